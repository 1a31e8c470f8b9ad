import { arrangeItems } from './arrange-items.ts';
import type { AgentItem, Replay, ToolCall, ToolCallBatch } from './items.ts';
import { rebuildResults } from './rebuild-results.ts';
import type { Repair } from './repair.ts';
import { repairCalls } from './repair-calls.ts';
import { isScoped, replaysOf } from './replay-scope.ts';

/** A list and what was done to it. */
export interface Mended {
  readonly items: readonly AgentItem[];
  /** By position in the input. */
  readonly repairs: readonly Repair[];
}

/** The work of `normalize`: on a valid list it finds nothing to do and returns the same list. */
export function mend(items: readonly AgentItem[]): Mended {
  const arrangement = arrangeItems(items);
  const calls = repairCalls(items);
  const joined = joinCalls(arrangement.batches, calls.byItem);
  const results = rebuildResults(items, arrangement, joined);
  const replay: Repair[] = [];

  const output: AgentItem[] = [];
  for (const index of arrangement.order) {
    const item = items[index];
    if (item === undefined || item.kind === 'tool_result_batch') continue;
    output.push(scoped(withCalls(item, joined.get(index)), index, replay));
    const batch = results.byBatch.get(index);
    if (batch !== undefined) output.push(batch);
  }
  const repairs = [...arrangement.repairs, ...calls.repairs, ...results.repairs, ...replay];
  if (repairs.length === 0) return { items, repairs };
  return { items: output, repairs: repairs.sort((left, right) => left.index - right.index) };
}

function joinCalls(
  batches: ReadonlyMap<number, readonly number[]>,
  byItem: ReadonlyMap<number, readonly ToolCall[]>,
): ReadonlyMap<number, readonly ToolCall[]> {
  const joined = new Map<number, readonly ToolCall[]>();
  for (const [survivor, parts] of batches) {
    const own = parts.length === 1 ? byItem.get(survivor) : undefined;
    joined.set(survivor, own ?? parts.flatMap((index) => byItem.get(index) ?? []));
  }
  return joined;
}

function withCalls(item: AgentItem, calls: readonly ToolCall[] | undefined): AgentItem {
  if (item.kind !== 'tool_call_batch' || calls === undefined) return item;
  const same = calls.length === item.calls.length && calls.every((call, ordinal) => call === item.calls[ordinal]);
  return same ? item : ({ ...item, calls } satisfies ToolCallBatch);
}

/** Takes away replay data that does not say where it may go. */
function scoped(item: AgentItem, index: number, repairs: Repair[]): AgentItem {
  const replays = replaysOf(item);
  if (replays.every(({ replay }) => isScoped(replay))) return item;
  const unscoped = replays.filter(({ replay }) => !isScoped(replay));
  const places = new Set(unscoped.map(({ place }) => place));
  for (const place of places) repairs.push({ code: 'replay_removed', index, place });
  const strip = <Part extends { readonly replay?: Replay }>(parts: readonly Part[]): readonly Part[] =>
    parts.map((part, place) => (places.has(place) ? withoutReplay(part) : part));
  if (item.kind === 'assistant_message') return { ...item, content: strip(item.content) };
  if (item.kind === 'tool_call_batch') return { ...item, calls: strip(item.calls) };
  return item.kind === 'reasoning_summary' || item.kind === 'builtin_tool_event' ? withoutReplay(item) : item;
}

function withoutReplay<Part extends { readonly replay?: Replay }>(part: Part): Part {
  const { replay: _, ...rest } = part;
  return rest as Part;
}
