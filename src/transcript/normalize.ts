import { arrangeItems } from './arrange-items.ts';
import type { AgentItem, Replay, ToolCall, ToolCallBatch } from './items.ts';
import { rebuildResults } from './rebuild-results.ts';
import type { Repair } from './repair.ts';
import { repairCalls } from './repair-calls.ts';
import { isScoped, replaysOf } from './replay-scope.ts';

export interface Normalized {
  readonly items: readonly AgentItem[];
  /** What was done, by position in the input; empty exactly when the input was valid (closed tail). */
  readonly repairs: readonly Repair[];
}

/**
 * Makes any list of items a valid transcript and tells what it did.
 *
 * Valid items stay the same objects; a valid list comes back as it is. Texts of users and assistants are never dropped.
 * Deterministic, idempotent, and stable: a prefix that ends between two groups is repaired alike whatever comes after.
 * A call without a result gets `unknown_outcome`, since nothing here says whether it ran; who knows better settles the
 * batch first. Linear.
 */
export function normalize(items: readonly AgentItem[]): Normalized {
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
  for (const [survivor, parts] of batches)
    joined.set(
      survivor,
      parts.flatMap((index) => byItem.get(index) ?? []),
    );
  return joined;
}

function withCalls(item: AgentItem, calls: readonly ToolCall[] | undefined): AgentItem {
  if (item.kind !== 'tool_call_batch' || calls === undefined) return item;
  const same = calls.length === item.calls.length && calls.every((call, ordinal) => call === item.calls[ordinal]);
  return same ? item : ({ ...item, calls } satisfies ToolCallBatch);
}

/** Takes away replay data that does not say where it may go. */
function scoped(item: AgentItem, index: number, repairs: Repair[]): AgentItem {
  const unscoped = replaysOf(item).filter(({ replay }) => !isScoped(replay));
  if (unscoped.length === 0) return item;
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
