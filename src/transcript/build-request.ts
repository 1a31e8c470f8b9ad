import { type HandOverLoss, type HandOverTarget, handOver } from './hand-over.ts';
import type { MessageRequest, ToolSpec } from './message.ts';
import { toMessages } from './to-messages.ts';
import type { View } from './view.ts';
import { withSystemPrompt } from './with-system-prompt.ts';

/** What is frozen for a run and stands in each of its requests. */
export interface RequestSettings {
  /** The composed system prompt. */
  readonly prompt: string;
  readonly tools: readonly ToolSpec[];
  readonly maxOutputTokens: number | null;
  readonly temperature: number | null;
  readonly thinking: NonNullable<MessageRequest['thinking']> | null;
  readonly outputSchema: NonNullable<MessageRequest['outputSchema']> | null;
}

export interface RequestTarget extends HandOverTarget {
  /** As the endpoint knows it, without the provider's prefix. */
  readonly model: string;
}

export interface BuiltRequest {
  readonly request: MessageRequest;
  /** What the target cannot be given as another model left it. */
  readonly losses: readonly HandOverLoss[];
}

/** The one way from a run's frozen settings and a view to a request: the same input gives the same bytes, then and later. */
export function buildRequest(settings: RequestSettings, view: View, target: RequestTarget): BuiltRequest {
  const { items, losses } = handOver(view.items, target);
  const { maxOutputTokens, temperature, thinking, outputSchema } = settings;
  const request: MessageRequest = {
    model: target.model,
    messages: withSystemPrompt(toMessages(items, { target: target.scope }), settings.prompt),
    tools: settings.tools,
    ...(maxOutputTokens === null ? {} : { maxOutputTokens }),
    ...(temperature === null ? {} : { temperature }),
    ...(thinking === null ? {} : { thinking }),
    ...(outputSchema === null ? {} : { outputSchema }),
  };
  return { request, losses };
}
