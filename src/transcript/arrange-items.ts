import { type BuiltinLinks, builtinLinks } from './builtin-links.ts';
import { isEmptyItem } from './empty-item.ts';
import type { AgentItem } from './items.ts';
import type { Repair } from './repair.ts';
import { responseOf, runEnd } from './response-runs.ts';

/** Which items stay, in which order. */
export interface Arrangement {
  /** Indexes of the items that stay, in output order; result batches too, at most one of them behind each call batch. */
  readonly order: readonly number[];
  /** For each call batch that stays, the batches whose calls it holds, itself included, in order of input. */
  readonly batches: ReadonlyMap<number, readonly number[]>;
  readonly repairs: readonly Repair[];
}

/**
 * Decides the order: nothing empty and no orphaned builtin result, one call batch a response as its last item, and
 * nothing inside a group but its own parts (what was there comes right after it). Batches never overtake each other.
 */
export function arrangeItems(items: readonly AgentItem[]): Arrangement {
  const links = builtinLinks(items);
  const repairs: Repair[] = [];
  const skipped = new Set<number>();
  for (const [index, item] of items.entries()) {
    const reason = reasonToGo(item, index, links);
    if (reason === undefined) continue;
    skipped.add(index);
    repairs.push({ code: 'item_removed', index, kind: item.kind, reason });
  }

  const followers = new Map<number, number[]>();
  const move = (index: number, after: number): void => {
    repairs.push({ code: 'item_moved', index, after });
    skipped.add(index);
    const queue = followers.get(after);
    if (queue === undefined) followers.set(after, [index]);
    else queue.push(index);
  };
  const batches = joinBatches(items, skipped, repairs, move);
  const anchors = new Map<number, number>();
  for (const { index, after } of links.strays) {
    const anchor = anchors.get(after) ?? anchorOf(items, after, skipped);
    anchors.set(after, anchor);
    move(index, anchor);
  }
  return { order: orderOf(items, skipped, followers), batches, repairs };
}

function reasonToGo(
  item: AgentItem,
  index: number,
  { orphans, repeats }: BuiltinLinks,
): 'empty' | 'orphan' | 'duplicate' | undefined {
  if (orphans.has(index)) return 'orphan';
  if (repeats.has(index)) return 'duplicate';
  return isEmptyItem(item) ? 'empty' : undefined;
}

/** One batch a response: earlier ones join the last, which moves behind what else the response holds. */
function joinBatches(
  items: readonly AgentItem[],
  skipped: Set<number>,
  repairs: Repair[],
  move: (index: number, after: number) => void,
): ReadonlyMap<number, readonly number[]> {
  const batches = new Map<number, readonly number[]>();
  for (let start = 0; start < items.length; ) {
    const end = runEnd(items, start);
    const kept: number[] = [];
    for (let index = start; index < end; index += 1) if (!skipped.has(index)) kept.push(index);
    const joined = kept.filter((index) => items[index]?.kind === 'tool_call_batch');
    const survivor = joined.at(-1);
    if (survivor !== undefined) {
      batches.set(survivor, joined);
      for (const index of joined.slice(0, -1)) {
        repairs.push({ code: 'batch_joined', index, into: survivor });
        skipped.add(index);
      }
      const last = kept.at(-1);
      if (last !== undefined && last > survivor) move(survivor, last);
    }
    start = end;
  }
  return batches;
}

/** The item behind which strays of a span that ends at `last` go: the last of its responses that stays in its place. */
function anchorOf(items: readonly AgentItem[], last: number, skipped: ReadonlySet<number>): number {
  for (let index = last; index > 0; index -= 1) {
    const item = items[index];
    if (item !== undefined && responseOf(item) !== undefined && !skipped.has(index)) return index;
  }
  return last;
}

function orderOf(
  items: readonly AgentItem[],
  skipped: ReadonlySet<number>,
  followers: ReadonlyMap<number, readonly number[]>,
): readonly number[] {
  const order: number[] = [];
  let cursor = 0;
  const emit = (index: number): void => {
    order.push(index);
    if (items[index]?.kind === 'tool_call_batch') {
      // The results that follow a batch stay right behind it, before anything that moves there.
      let next = cursor + 1;
      while (skipped.has(next)) next += 1;
      if (items[next]?.kind === 'tool_result_batch') {
        order.push(next);
        cursor = next;
      }
    }
    for (const follower of followers.get(index) ?? []) emit(follower);
  };
  for (; cursor < items.length; cursor += 1) if (!skipped.has(cursor)) emit(cursor);
  return order;
}
