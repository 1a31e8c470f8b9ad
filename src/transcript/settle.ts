import type { ToolCallBatch, ToolResult, ToolResultBatch, ToolResultStatus } from './items.ts';
import { syntheticResult, unparsableResult } from './synthetic-result.ts';

/** How calls without a result ended, by call id; calls not named are `aborted`. `message` is shown to the model. */
export type CallSettlement = Readonly<
  Record<string, { readonly status: Exclude<ToolResultStatus, 'ok'>; readonly message?: string }>
>;

/**
 * Closes a batch: one result a call, in call order.
 *
 * A stored result always wins (the first one, should an id come twice). A call whose arguments were no JSON object was
 * never run, whatever the settlement says of it. Results of other calls are left out.
 */
export function settle(
  batch: ToolCallBatch,
  stored: readonly ToolResult[],
  settlement: CallSettlement,
): ToolResultBatch {
  const byId = new Map<string, ToolResult>();
  for (const result of stored) if (!byId.has(result.callId)) byId.set(result.callId, result);

  const results = batch.calls.map((call): ToolResult => {
    const known = byId.get(call.callId);
    if (known !== undefined) return known;
    if (call.argumentsError !== undefined) return unparsableResult(call, call.argumentsError);
    // hasOwn: an id such as "constructor" must not find a settlement on the prototype.
    const ended = Object.hasOwn(settlement, call.callId) ? settlement[call.callId] : undefined;
    return syntheticResult(call.callId, ended?.status ?? 'aborted', ended?.message);
  });
  return { kind: 'tool_result_batch', schemaVersion: 1, results };
}
