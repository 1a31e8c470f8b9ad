import type { UserMessage } from '../transcript/items.ts';

/** Sent once when a final text promises action and makes no call; hidden from people. */
export const NUDGE_TEXT =
  'You said what you will do but made no tool call. If the task is not finished, make the call now; if it is, give the final answer.';

export function nudgeItem(): UserMessage {
  return { kind: 'user_message', schemaVersion: 1, origin: 'control', content: [{ type: 'text', text: NUDGE_TEXT }] };
}
