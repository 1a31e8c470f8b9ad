import type { Arrangement } from './arrange-items.ts';
import type { AgentItem, ToolCall, ToolResult, ToolResultBatch } from './items.ts';
import { type PairedResult, pairResults } from './pair-results.ts';
import type { Repair } from './repair.ts';
import { syntheticResult, unparsableResult } from './synthetic-result.ts';
import { CLAIMS_EXECUTION } from './validate.ts';

/** Result batches by the index of the call batch that they follow. An unchanged one is the same object as in the input. */
export interface RebuiltResults {
  readonly byBatch: ReadonlyMap<number, ToolResultBatch>;
  readonly repairs: readonly Repair[];
}

/** Gives every call of every batch exactly one result, in call order: its own where there is one, else a made one. */
export function rebuildResults(
  items: readonly AgentItem[],
  arrangement: Arrangement,
  calls: ReadonlyMap<number, readonly ToolCall[]>,
): RebuiltResults {
  const repairs: Repair[] = [];
  const slots = slotsOf(items, arrangement, repairs);
  const byBatch = new Map<number, ToolResultBatch>();
  for (const [position, index] of arrangement.order.entries()) {
    const item = items[index];
    if (item?.kind === 'tool_call_batch') {
      const home = arrangement.order[position + 1];
      byBatch.set(index, rebuilt(items, index, home, calls.get(index) ?? [], slots.get(index) ?? [], repairs));
    } else if (item?.kind === 'tool_result_batch' && item.results.length === 0) {
      const before = items[arrangement.order[position - 1] ?? -1];
      if (before?.kind === 'tool_call_batch') continue;
      repairs.push({ code: 'item_removed', index, kind: item.kind, reason: 'empty' });
    }
  }
  return { byBatch, repairs };
}

/** The results of each batch by ordinal of their call. */
type Slots = readonly (PairedResult | undefined)[];

function slotsOf(
  items: readonly AgentItem[],
  { batches }: Arrangement,
  repairs: Repair[],
): ReadonlyMap<number, PairedResult[]> {
  const slots = new Map<number, PairedResult[]>();
  const homes = new Map<number, { readonly slots: PairedResult[]; readonly offset: number }>();
  for (const [survivor, joined] of batches) {
    const own: PairedResult[] = [];
    slots.set(survivor, own);
    let offset = 0;
    for (const index of joined) {
      homes.set(index, { slots: own, offset });
      const item = items[index];
      offset += item?.kind === 'tool_call_batch' ? item.calls.length : 0;
    }
  }
  for (const paired of pairResults(items)) {
    const home = paired.call === null ? undefined : homes.get(paired.call.index);
    if (paired.call !== null && home !== undefined) home.slots[home.offset + paired.call.ordinal] = paired;
    else {
      const { index, ordinal: result, callId } = paired;
      repairs.push({
        code: 'result_removed',
        index,
        result,
        callId,
        reason: paired.duplicate ? 'duplicate' : 'orphan',
      });
    }
  }
  return slots;
}

function rebuilt(
  items: readonly AgentItem[],
  index: number,
  home: number | undefined,
  calls: readonly ToolCall[],
  slots: Slots,
  repairs: Repair[],
): ToolResultBatch {
  const before = home === undefined ? undefined : items[home];
  if (before?.kind === 'tool_result_batch' && answersInOrder(before.results, calls, slots, home)) return before;
  const inOrder = keepsOrder(slots, home);
  const results = calls.map((call, ordinal): ToolResult => {
    const paired = slots[ordinal];
    const source = paired === undefined ? undefined : items[paired.index];
    const result =
      source?.kind === 'tool_result_batch' && paired !== undefined ? source.results[paired.ordinal] : undefined;
    if (paired === undefined || result === undefined) {
      const added = made(call);
      repairs.push({ code: 'result_added', index, call: ordinal, result: added });
      return added;
    }
    if (paired.index !== home || !inOrder) {
      const from = { index: paired.index, result: paired.ordinal };
      repairs.push({ code: 'result_moved', ...from, batch: index, call: ordinal });
    }
    const status = call.argumentsError !== undefined && CLAIMS_EXECUTION[result.status] ? 'error' : result.status;
    if (status !== result.status) {
      repairs.push({ code: 'status_changed', index, call: ordinal, from: result.status, to: status });
    }
    const same = status === result.status && call.callId === result.callId;
    return same ? result : { ...result, callId: call.callId, status };
  });
  return { kind: 'tool_result_batch', schemaVersion: 1, results };
}

/** Whether the results right behind a batch are as they must be already. */
function answersInOrder(
  results: readonly ToolResult[],
  calls: readonly ToolCall[],
  slots: Slots,
  home: number | undefined,
): boolean {
  if (results.length !== calls.length) return false;
  return calls.every((call, ordinal) => {
    const paired = slots[ordinal];
    const result = results[ordinal];
    if (paired === undefined || result === undefined || paired.index !== home || paired.ordinal !== ordinal)
      return false;
    return result.callId === call.callId && !(call.argumentsError !== undefined && CLAIMS_EXECUTION[result.status]);
  });
}

function made(call: ToolCall): ToolResult {
  // Nothing here says whether the call ran, so nothing may claim that it did not; unreadable arguments never run.
  return call.argumentsError === undefined
    ? syntheticResult(call.callId, 'unknown_outcome')
    : unparsableResult(call, call.argumentsError);
}

/** Whether the results that stand right behind their batch are in call order already. */
function keepsOrder(slots: Slots, home: number | undefined): boolean {
  let last = -1;
  for (const paired of slots) {
    if (paired === undefined || paired.index !== home) continue;
    if (paired.ordinal < last) return false;
    last = paired.ordinal;
  }
  return true;
}
