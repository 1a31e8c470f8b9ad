import { compacted, decideStrategy, PRUNED_THINKING } from './compact-action.ts';
import type { Block, Message, ToolResultBlock } from './message.ts';
import { KEEP_RECENT_MESSAGES, type MicrocompactOptions } from './microcompact.ts';
import { keywords, looksLikeError, refersTo, resultScore } from './microcompact-score.ts';
import { blocksTokens, blockTokens } from './tokens.ts';

export interface CompactedMessages {
  readonly messages: readonly Message[];
  readonly tokensFreed: number;
}

/**
 * {@link microcompact} for a message list without a transcript (imports, `submitStream`): results in `tool` messages and
 * results embedded in assistant messages alike. Messages that need nothing stay the same objects.
 */
export function microcompactMessages(
  messages: readonly Message[],
  options: MicrocompactOptions = {},
): CompactedMessages {
  const end = Math.max(0, messages.length - (options.keepRecentMessages ?? KEEP_RECENT_MESSAGES));
  const said = messages.map((message) =>
    message.role === 'assistant' ? keywords(textOf(message.content)) : undefined,
  );
  const openTurn = messages.findLastIndex(({ role }) => role === 'user');
  let tokensFreed = 0;
  const output = messages.flatMap((message, at): readonly Message[] => {
    if (at >= end || (message.role !== 'tool' && message.role !== 'assistant')) return [message];
    const thinking = options.compactThinking === true && at < openTurn;
    const later = said.slice(at + 1).filter((words) => words !== undefined);
    const content = compactedBlocks(message.content, { later, thinking, options });
    if (content === message.content) return [message];
    tokensFreed += blocksTokens(message.content) - blocksTokens(content);
    return content.length === 0 ? [] : [{ ...message, content } as Message];
  });
  return { messages: output, tokensFreed };
}

/** The same array when nothing changed. Where signed thinking went, the replay data of its response goes too. */
function compactedBlocks(blocks: readonly Block[], context: Context): readonly Block[] {
  const made = blocks.flatMap((block) => shortened(block, context));
  if (made.length < blocks.length) return made.map(withoutReplay);
  return made.every((block, at) => block === blocks[at]) ? blocks : made;
}

function withoutReplay(block: Block): Block {
  if (!('replay' in block)) return block;
  const { replay: _, ...rest } = block;
  return rest as Block;
}

interface Context {
  /** Keywords of each later assistant message, in order. */
  readonly later: readonly ReadonlySet<string>[];
  readonly thinking: boolean;
  readonly options: MicrocompactOptions;
}

function shortened(block: Block, context: Context): Block[] {
  if (block.type === 'tool_result') return [shortenedResult(block, context)];
  if (block.type !== 'thinking' || !context.thinking) return [block];
  if (block.replay !== undefined) return [];
  const pruned = { ...block, text: PRUNED_THINKING };
  return [blockTokens(pruned) < blockTokens(block) ? pruned : block];
}

function shortenedResult(block: ToolResultBlock, { later, options }: Context): ToolResultBlock {
  const text = textOf(block.content);
  if (block.status !== 'ok' || text.length <= 200 || looksLikeError(text)) return block;
  const words = keywords(text);
  const last = later.findLastIndex((said) => refersTo(words, said));
  const stepsSinceReferenced = later.length - 1 - last;
  const semantic = options.semanticOf?.(block.name) ?? 'mixed';
  const action = decideStrategy(text.length, resultScore({ semantic, text, stepsSinceReferenced }));
  const made = compacted(text, action);
  if (made === text) return block;
  const rest = action.type === 'replace' ? [] : block.content.filter((part) => part.type !== 'text');
  return { ...block, content: [{ type: 'text', text: made }, ...rest] };
}

function textOf(blocks: readonly Block[]): string {
  return blocks.map((block) => (block.type === 'text' ? block.text : '')).join('\n');
}
