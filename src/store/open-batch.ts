import type { AgentEvent } from '../transcript/events.ts';
import type { ToolCallBatch, ToolResult } from '../transcript/items.ts';
import { preview } from '../transcript/preview.ts';
import { settle } from '../transcript/settle.ts';
import { utf8Length } from '../transcript/well-formed.ts';
import { appendEvents } from './append-events.ts';
import { appendItems, type Place } from './append-items.ts';
import { textOf } from './readable-text.ts';
import { refused } from './refusals.ts';
import type { SessionWrite } from './session-write.ts';
import type { Settlement, StoredResult } from './store.ts';

interface CallState {
  readonly result: ToolResult | undefined;
  readonly started: boolean;
}

/**
 * Closes the session's open batch, if there is one: stored results stand, the other calls end as `settlement` says,
 * corrected by what the store knows of their start. Their ends become results and events like any other.
 */
export async function closeOpenBatch(write: SessionWrite, settlement: Settlement): Promise<void> {
  const open = await openBatch(write);
  if (open === undefined) return;
  const calls = await callStates(write, open.batch);
  const stored = [...calls.values()].flatMap((call) => (call.result === undefined ? [] : [call.result]));
  const results = settle(open.batch, stored, corrected(open.batch, settlement, calls));
  for (const result of results.results) {
    if (calls.get(result.callId)?.result === undefined) await saveResult(write, result, { now: write.at });
  }
  await appendItems(write, open.place, [results]);
  const made = results.results.filter((result) => calls.get(result.callId)?.result === undefined);
  await appendEvents(write, open.place.runId, failures(open.batch, open.place.step, made));
}

/** What is kept of a result for the workflow and for people. */
export function storedResult(result: ToolResult, fullOutput?: string): StoredResult {
  const text = fullOutput ?? textOf(result.content);
  return { callId: result.callId, status: result.status, preview: preview(text), bytes: utf8Length(text) };
}

/** Writes a call's result where it has none. Returns whether this one was the first. */
export async function saveResult(
  write: SessionWrite,
  result: ToolResult,
  details: { readonly now: string; readonly stored?: StoredResult; readonly outputUnits?: number },
): Promise<boolean> {
  const { numUpdatedRows } = await write.trx
    .updateTable('tool_calls')
    .set({
      stored_json: JSON.stringify(details.stored ?? storedResult(result)),
      result_json: JSON.stringify(result),
      output_units: details.outputUnits ?? null,
      completed_at: details.now,
    })
    .where('session_id', '=', write.writer.sessionId)
    .where('call_id', '=', result.callId)
    .where('result_json', 'is', null)
    .executeTakeFirst();
  return Number(numUpdatedRows) === 1;
}

async function openBatch(
  write: SessionWrite,
): Promise<{ readonly batch: ToolCallBatch; readonly place: Place } | undefined> {
  if (write.openBatchSeq === null) return undefined;
  const row = await write.trx
    .selectFrom('transcript_items')
    .select(['item_json', 'run_id', 'step'])
    .where('session_id', '=', write.writer.sessionId)
    .where('seq', '=', write.openBatchSeq)
    .where('superseded_by', 'is', null)
    .executeTakeFirst();
  if (row === undefined) throw refused(`Item ${write.openBatchSeq} should be an open batch and is not there.`);
  const batch: ToolCallBatch = JSON.parse(row.item_json);
  return { batch, place: { runId: row.run_id, step: row.step } };
}

async function callStates(write: SessionWrite, batch: ToolCallBatch): Promise<ReadonlyMap<string, CallState>> {
  const rows = await write.trx
    .selectFrom('tool_calls')
    .select(['call_id', 'result_json', 'started_at'])
    .where('session_id', '=', write.writer.sessionId)
    .where(
      'call_id',
      'in',
      batch.calls.map((call) => call.callId),
    )
    .execute();
  return new Map(
    rows.map((row) => {
      const result: ToolResult | undefined = row.result_json === null ? undefined : JSON.parse(row.result_json);
      return [row.call_id, { result, started: row.started_at !== null }];
    }),
  );
}

/** The store knows of calls that began: such a call is never said to have had no effect, whatever the caller thinks. */
function corrected(batch: ToolCallBatch, settlement: Settlement, calls: ReadonlyMap<string, CallState>): Settlement {
  return Object.fromEntries(
    batch.calls.map(({ callId }): [string, Settlement[string]] => {
      const started = calls.get(callId)?.started ?? false;
      const told = Object.hasOwn(settlement, callId) ? settlement[callId] : undefined;
      if (told === undefined) return [callId, { status: started ? 'unknown_outcome' : 'aborted' }];
      return [callId, started && told.status === 'aborted' ? { ...told, status: 'cancelled' } : told];
    }),
  );
}

function failures(batch: ToolCallBatch, step: number, results: readonly ToolResult[]): readonly AgentEvent[] {
  return results.flatMap((result): readonly AgentEvent[] => {
    if (result.status === 'ok') return [];
    const name = batch.calls.find((call) => call.callId === result.callId)?.name ?? '';
    const { status, callId } = result;
    return [
      { type: 'tool_call_failed', step, callId, name, status, preview: preview(textOf(result.content)), durationMs: 0 },
    ];
  });
}
