import type { AssistantTurnMessage, StopReason, Usage } from '../message.ts';

/** One answer of a model, apart from any session. */
export interface MessageResponse {
  readonly id: string;
  readonly model: string;
  readonly message: AssistantTurnMessage;
  readonly stopReason: StopReason;
  /** `null`: unknown. */
  readonly usage: Usage | null;
  /** Visible text, refusals included. */
  text(): string;
}

export function messageResponse(parts: Omit<MessageResponse, 'text'>): MessageResponse {
  const text = () =>
    parts.message.content
      .map((block) => (block.type === 'text' || block.type === 'refusal' ? block.text : ''))
      .join('');
  return { ...parts, text };
}
