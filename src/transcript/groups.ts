import { builtinLinks } from './builtin-links.ts';
import type { AgentItem } from './items.ts';
import { pairResults } from './pair-results.ts';
import { runEnd } from './response-runs.ts';

/** Items `[start, end)` that may not be torn apart. */
export interface Group {
  readonly start: number;
  readonly end: number;
}

/**
 * Splits a transcript into groups: no cut, steering message or summary may fall inside one.
 *
 * A group is the smallest span that holds whole responses and is closed under client call ids and builtin ids; after a
 * pause the next response belongs to it too. Groups are in order, not empty, and cover the list. Works on any list;
 * in a broken one a group reaches as far as its ids do. Linear.
 */
export function groupsOf(items: readonly AgentItem[]): readonly Group[] {
  const reach = reachOf(items);
  const groups: Group[] = [];
  for (let start = 0; start < items.length; ) {
    let last = start;
    for (let index = start; index <= last; index += 1) last = Math.max(last, reach[index] ?? index);
    groups.push({ start, end: last + 1 });
    start = last + 1;
  }
  return groups;
}

/** For each item the furthest one that it must stay together with. */
function reachOf(items: readonly AgentItem[]): readonly number[] {
  const reach = items.map((_, index) => index);
  const tie = (from: number, to: number): void => {
    reach[from] = Math.max(reach[from] ?? from, to);
  };
  for (let start = 0; start < items.length; ) {
    const end = runEnd(items, start);
    tie(start, end - 1);
    start = end;
  }
  for (const { call, index } of pairResults(items)) if (call !== null) tie(call.index, index);
  for (const { start, last } of builtinLinks(items).spans) tie(start, last);
  return reach;
}
