import type { Message } from './message.ts';

/**
 * Puts the system prompt of a request in its place: an explicit one replaces every system message and stands first.
 *
 * Without one (`undefined`) the messages stay as they are, and adapters map the system messages they hold. An empty prompt
 * is explicit too: no system message is left, since servers refuse an empty one.
 */
export function withSystemPrompt(messages: readonly Message[], prompt: string | undefined): readonly Message[] {
  if (prompt === undefined) return messages;
  const others = messages.filter((message) => message.role !== 'system');
  return prompt === '' ? others : [{ role: 'system', content: [{ type: 'text', text: prompt }] }, ...others];
}
