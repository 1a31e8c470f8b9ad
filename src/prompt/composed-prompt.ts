import type { SystemMessage } from '../transcript/message.ts';

/** Where a part of the system prompt comes from, in the order in which the parts stand. */
export type PromptPartKind = 'agent' | 'workspace_instructions' | 'memory' | 'environment';

export interface PromptPart {
  readonly kind: PromptPartKind;
  /** File name in the workspace, or id of the memory; empty for the agent and the environment. */
  readonly source: string;
  /** As it stands in the prompt, heading included. */
  readonly text: string;
  readonly tokens: number;
  /** Whether the source was longer than its share. */
  readonly cut: boolean;
}

/** A system prompt as the model gets it. Frozen: between two maintenance passes the same object is used. */
export interface ComposedPrompt {
  readonly schemaVersion: 1;
  readonly text: string;
  /** Lower-case hex SHA-256 of `text`. */
  readonly hash: string;
  readonly parts: readonly PromptPart[];
  /** Ids of stored memories that found no room. */
  readonly omittedMemories: readonly string[];
}

/** The prompt in the request's own words: there is no other place for a system prompt. */
export function systemMessage(prompt: ComposedPrompt): SystemMessage {
  return { role: 'system', content: [{ type: 'text', text: prompt.text }] };
}
