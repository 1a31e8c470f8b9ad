import type { AgentEvent } from '../transcript/events.ts';
import type { ToolCallBatch, ToolResult } from '../transcript/items.ts';
import { preview } from '../transcript/preview.ts';
import { settle } from '../transcript/settle.ts';
import { utf8Length } from '../transcript/well-formed.ts';
import { appendEvents } from './append-events.ts';
import { appendItems, type Place } from './append-items.ts';
import { prepared, type Value } from './prepared.ts';
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
  const calls = await callStates(write, open.place);
  const stored = [...calls.values()].flatMap((call) => (call.result === undefined ? [] : [call.result]));
  const results = settle(open.batch, stored, corrected(open.batch, settlement, calls));
  for (const result of results.results) {
    if (calls.get(result.callId)?.result === undefined) await saveResult(write, result, { now: write.at });
  }
  await appendItems(write, open.place, [results]);
  await dropResults(write.trx, open.place);
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
  const { numAffectedRows } = await updateResult(write.trx, {
    stored: JSON.stringify(details.stored ?? storedResult(result)),
    result: JSON.stringify(result),
    units: details.outputUnits ?? null,
    now: details.now,
    sessionId: write.writer.sessionId,
    callId: result.callId,
  });
  return Number(numAffectedRows) === 1;
}

interface ResultUpdate {
  readonly stored: string;
  readonly result: string;
  readonly units: number | null;
  readonly now: string;
  readonly sessionId: string;
  readonly callId: string;
}

const updateResult = prepared((db, value: Value<ResultUpdate>) =>
  db
    .updateTable('tool_calls')
    .set({
      stored_json: value('stored'),
      result_json: value('result'),
      output_units: value('units'),
      completed_at: value('now'),
    })
    .where('session_id', '=', value('sessionId'))
    .where('call_id', '=', value('callId'))
    .where('stored_json', 'is', null),
);

async function openBatch(
  write: SessionWrite,
): Promise<{ readonly batch: ToolCallBatch; readonly place: Place } | undefined> {
  if (write.openBatchSeq === null) return undefined;
  const [row] = (await liveItem(write.trx, { sessionId: write.writer.sessionId, seq: write.openBatchSeq })).rows;
  if (row === undefined) throw refused(`Item ${write.openBatchSeq} should be an open batch and is not there.`);
  const batch: ToolCallBatch = JSON.parse(row.item_json);
  return { batch, place: { runId: row.run_id, step: row.step } };
}

const liveItem = prepared((db, value: Value<{ sessionId: string; seq: number }>) =>
  db
    .selectFrom('transcript_items')
    .select(['item_json', 'run_id', 'step'])
    .where('session_id', '=', value('sessionId'))
    .where('seq', '=', value('seq'))
    .where('superseded_by', 'is', null),
);

/** The batch's item holds the results from now on: they are the bulk of a store, and are kept once. */
const dropResults = prepared((db, value: Value<Place>) =>
  db
    .updateTable('tool_calls')
    .set({ result_json: null })
    .where('run_id', '=', value('runId'))
    .where('step', '=', value('step')),
);

/** A step has one batch, so its calls are those of the step. */
const callsOf = prepared((db, value: Value<Place>) =>
  db
    .selectFrom('tool_calls')
    .select(['call_id', 'result_json', 'started_at'])
    .where('run_id', '=', value('runId'))
    .where('step', '=', value('step')),
);

async function callStates(write: SessionWrite, place: Place): Promise<ReadonlyMap<string, CallState>> {
  const { rows } = await callsOf(write.trx, place);
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
