import { groupsOf } from './groups.ts';
import { itemsTokens, knownItemTokens } from './item-tokens.ts';
import type { AgentItem } from './items.ts';
import { unansweredSeqs } from './protected-items.ts';
import { isObserved, type View, type ViewPart } from './view.ts';

export interface CutOptions {
  /** Tokens of the newest groups that stay word for word. */
  readonly keepRecent: number;
  /** Run whose messages are not answered yet; absent when the session is idle. */
  readonly openRunId?: string;
  /** Further items that no summary may replace (open approvals). */
  readonly protect?: readonly number[];
  /** Most user turns that stay word for word; absent for no limit. */
  readonly maxTurns?: number;
}

export interface CutPoint {
  readonly firstKeptSeq: number;
  /** Protected items before the cut, in order. */
  readonly protectedSeqs: readonly number[];
  /** What a summary will replace, in order; the previous summary, where there is one, is not among them. */
  readonly dropped: readonly ViewPart[];
  readonly droppedTokens: number;
  /** Tokens of what stays word for word, protected items included. */
  readonly keptTokens: number;
}

/**
 * Where a compaction cuts: before the oldest whole group of the newest that fit into `keepRecent`. The newest group
 * always stays, however large, and so does a batch that still runs. `undefined` when nothing would be replaced.
 */
export function cutPoint(view: View, options: CutOptions): CutPoint | undefined {
  const parts = view.parts.filter((part) => part.state !== 'summary' && !isObserved(part.item));
  const observed = view.parts.find((part) => isObserved(part.item))?.seq ?? Number.POSITIVE_INFINITY;
  // Observed messages are shown while their step lasts: they, and what came after them, must not fall behind the cut.
  const after = parts.findIndex((part) => part.seq !== null && part.seq > observed);
  const recent = keptFrom(
    parts.map((part) => part.item),
    options,
  );
  const start = after === -1 ? recent : Math.min(recent, after);
  // What is kept never begins among items that the checkpoint protects: what it replaced stands between them.
  const cut = Math.max(
    start,
    parts.findIndex((part) => part.state === 'kept'),
  );
  const first = parts.slice(cut).find((part) => part.seq !== null)?.seq ?? observed;
  const firstKeptSeq = Math.min(first, observed);
  if (start === 0 || !Number.isFinite(firstKeptSeq)) return undefined;

  const guarded = new Set([...unansweredSeqs(view.input.entries, options.openRunId), ...(options.protect ?? [])]);
  // What a checkpoint protected stands before the cut of that checkpoint, so positions decide and not `seq` alone.
  const before = parts.slice(0, cut);
  const kept = before.filter((part, at) => part.seq !== null && (at >= start || guarded.has(part.seq)));
  const dropped = before.filter((part) => !kept.includes(part));
  if (dropped.length === 0) return undefined;
  return {
    firstKeptSeq,
    protectedSeqs: kept.flatMap((part) => part.seq ?? []),
    dropped,
    droppedTokens: itemsTokens(dropped.map((part) => part.item)),
    keptTokens: itemsTokens([...kept, ...parts.slice(cut)].map((part) => part.item)),
  };
}

/** Position of the first item that stays. */
function keptFrom(items: readonly AgentItem[], { keepRecent, maxTurns }: CutOptions): number {
  const groups = groupsOf(items);
  let from = items.length;
  let tokens = 0;
  let turns = 0;
  for (const [back, { start, end }] of groups.toReversed().entries()) {
    for (let at = start; at < end; at += 1) tokens += tokensAt(items, at);
    if (back > 0 && (tokens > keepRecent || turns >= (maxTurns ?? Number.POSITIVE_INFINITY))) break;
    if (opensTurn(items[start])) turns += 1;
    from = start;
  }
  return from;
}

function tokensAt(items: readonly AgentItem[], at: number): number {
  const item = items[at];
  return item === undefined ? 0 : knownItemTokens(item);
}

function opensTurn(item: AgentItem | undefined): boolean {
  return item?.kind === 'user_message' && item.origin === 'user';
}
