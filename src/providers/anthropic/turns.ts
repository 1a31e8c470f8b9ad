import type Anthropic from '@anthropic-ai/sdk';
import type { Message } from '../../transcript/message.ts';
import { EARLIER_CONVERSATION, GO_ON } from '../stand-ins.ts';
import { type ContentContext, type WireBlock, wireBlocks } from './content.ts';
import type { OpenTurn } from './thinking.ts';

/** A message of the wire before cache marks. */
export interface Turn {
  readonly role: 'user' | 'assistant';
  readonly content: WireBlock[];
}

/**
 * The conversation as strictly alternating turns that begin with the user's, with all results of a batch at the head of
 * one user turn. Ends with the user's too, unless the server paused and is to go on from its own words.
 */
export function wireTurns(messages: readonly Message[], context: ContentContext): readonly Turn[] {
  const turns: Turn[] = [];
  for (const [index, message] of messages.entries()) {
    if (message.role === 'system') continue;
    const role = message.role === 'assistant' ? 'assistant' : 'user';
    const content =
      role === 'assistant'
        ? withoutLastThinking(wireBlocks(message, index, context))
        : wireBlocks(message, index, context);
    if (content.length === 0) continue;
    const last = turns.at(-1);
    if (last?.role === role) last.content.push(...content);
    else turns.push({ role, content: [...content] });
  }
  for (const turn of turns) resultsFirst(turn);
  if (turns[0]?.role === 'assistant')
    turns.unshift({ role: 'user', content: [{ type: 'text', text: EARLIER_CONVERSATION }] });
  closeWithUser(turns);
  return turns;
}

/** "The final block in an assistant message cannot be `thinking`": a response that was cut while it thought says nothing. */
function withoutLastThinking(blocks: readonly WireBlock[]): readonly WireBlock[] {
  const last = blocks.findLastIndex((block) => block.type !== 'thinking' && block.type !== 'redacted_thinking');
  return blocks.slice(0, last + 1);
}

function resultsFirst(turn: Turn): void {
  const results = turn.content.filter((block) => block.type === 'tool_result');
  if (results.length === 0 || turn.role !== 'user') return;
  const rest = turn.content.filter((block) => block.type !== 'tool_result');
  turn.content.splice(0, turn.content.length, ...results, ...rest);
}

/** Models refuse to continue an assistant turn (always with thinking, the newer ones at all), except after a pause. */
function closeWithUser(turns: Turn[]): void {
  const last = turns.at(-1);
  if (last === undefined || (last.role === 'assistant' && !isPaused(last))) {
    turns.push({ role: 'user', content: [{ type: 'text', text: GO_ON }] });
    return;
  }
  const end = last.content.at(-1);
  if (last.role !== 'assistant' || end?.type !== 'text') return;
  // "final assistant content cannot end with trailing whitespace"
  last.content[last.content.length - 1] = { ...end, text: end.text.trimEnd() };
}

/** A response in which only the server's own tools ran, and after which nobody spoke, was paused. */
function isPaused(turn: Turn): boolean {
  return turn.content.some((block) => isBuiltin(block)) && !turn.content.some((block) => block.type === 'tool_use');
}

function isBuiltin(block: Anthropic.Messages.ContentBlockParam): boolean {
  return block.type !== 'tool_use' && (block.type.endsWith('_tool_use') || block.type.endsWith('_tool_result'));
}

/**
 * Whether the conversation stands inside a tool loop, and if so, whether that loop began as a thinking model must begin
 * ("Expected `thinking` or `redacted_thinking`, but found `tool_use`"). Later responses of a loop may lack thinking:
 * without interleaving a model thinks only once, before its first call.
 * https://platform.claude.com/docs/en/build-with-claude/extended-thinking
 */
export function openTurnOf(turns: readonly Turn[]): OpenTurn {
  const asked = turns.findLastIndex(
    (turn) => turn.role === 'user' && turn.content.some((block) => block.type !== 'tool_result'),
  );
  const first = turns.slice(asked + 1).find((turn) => turn.role === 'assistant');
  if (first === undefined) return 'none';
  const type = first.content[0]?.type;
  return type === 'thinking' || type === 'redacted_thinking' ? 'begins_with_thinking' : 'lacks_thinking';
}
