import type { AgentItem, ContentBlock, TranscriptEntry } from './items.ts';
import { blocksTokens } from './tokens.ts';
import { truncateOutput } from './truncate.ts';

/** The part of the budget that one protected item may take. */
const SHARE = 8;

/**
 * A protected item as the view shows it: head and tail when it takes more than an eighth of the budget. The same object
 * when it does not.
 */
export function cutProtected(item: AgentItem, budget: number): AgentItem {
  if (item.kind !== 'user_message') return item;
  const maxTokens = Math.max(1, Math.floor(budget / SHARE));
  if (blocksTokens(item.content) <= maxTokens) return item;
  return { ...item, content: cutTexts(item.content, maxTokens, 'asking the user, or search_transcript') };
}

/** Blocks whose texts share `maxTokens` by their size; what is no text stays as it is and is paid first. */
export function cutTexts(blocks: readonly ContentBlock[], maxTokens: number, readBy: string): readonly ContentBlock[] {
  const texts = blocks.filter((block) => block.type === 'text');
  const room = Math.max(texts.length, maxTokens - blocksTokens(blocks.filter((block) => block.type !== 'text')));
  const total = Math.max(1, blocksTokens(texts));
  return blocks.map((block) => {
    if (block.type !== 'text') return block;
    const share = Math.max(1, Math.floor((room * blocksTokens([block])) / total));
    const { text, cut } = truncateOutput(block.text, { maxTokens: share, readBy });
    return cut ? { ...block, text } : block;
  });
}

/** User and steering messages of the open run: they are not answered before it ends, wherever they stand. */
export function unansweredSeqs(entries: readonly TranscriptEntry[], openRunId: string | undefined): readonly number[] {
  if (openRunId === undefined) return [];
  return entries.filter(({ runId, item }) => runId === openRunId && isRequest(item)).map(({ seq }) => seq);
}

function isRequest(item: AgentItem): boolean {
  return item.kind === 'user_message' && (item.origin === 'user' || item.origin === 'steer');
}
