import type { AgentEvent } from '../transcript/events.ts';
import { appendEvents } from './append-events.ts';
import { undecided } from './approval-rows.ts';
import { storedCall } from './begin-call.ts';
import { guarded, timestamp } from './database.ts';
import { StoreError } from './errors.ts';
import { saveResult, storedResult } from './open-batch.ts';
import { prepared, type Value } from './prepared.ts';
import { refused } from './refusals.ts';
import { isClosed, type Run } from './run-state.ts';
import { type RunWrite, writeRun } from './run-write.ts';
import type { SessionWrite } from './session-write.ts';
import type { CommitCall, StoredResult } from './store.ts';
import { saveOutput } from './tool-output.ts';

/** See {@link Store.commitCall}. */
export async function commitCall(target: RunWrite, input: CommitCall): Promise<StoredResult> {
  try {
    return await writeRun(target, (write, run) => committed(write, run, input));
  } catch (error) {
    if (error instanceof StoreError && error.code === 'Fenced') await keepLate(target, input);
    throw error;
  }
}

async function committed(write: SessionWrite, run: Run, input: CommitCall): Promise<StoredResult> {
  const known = await storedCall(write, input.callId);
  if (known !== undefined) {
    await keepLateResult(write, input);
    return known;
  }
  if (isClosed(run.status)) throw refused(`Run ${run.run_id} is closed and call ${input.callId} has no result.`);
  const stored = withPreviewOf(input.events, storedResult(input.result, input.fullOutput));
  const details =
    input.fullOutput === undefined
      ? { now: write.at, stored }
      : { now: write.at, stored, outputUnits: input.fullOutput.length };
  await saveResult(write, input.result, details);
  if (input.fullOutput !== undefined) {
    await saveOutput(write.trx, write.writer.sessionId, input.callId, input.fullOutput);
  }
  // Of a call whose outcome is unknown there may be news yet.
  if (input.result.status !== 'unknown_outcome') {
    await markCompleted(write.trx, { at: write.at, sessionId: write.writer.sessionId, callId: input.callId });
  }
  await appendEvents(write, input.ref.runId, await undecided(write, input.events));
  return stored;
}

const markCompleted = prepared((db, value: Value<{ at: string; sessionId: string; callId: string }>) =>
  db
    .updateTable('tool_effects')
    .set({ completed_at: value('at') })
    .where('session_id', '=', value('sessionId'))
    .where('call_id', '=', value('callId')),
);

/** People and workflow see the same preview. */
function withPreviewOf(events: readonly AgentEvent[], stored: StoredResult): StoredResult {
  const end = events.find((event) => event.type === 'tool_call_completed' || event.type === 'tool_call_failed');
  return end === undefined ? stored : { ...stored, preview: end.preview };
}

/** A result that comes after its call was given up stays in the ledger: it tells what really happened. */
async function keepLateResult(write: SessionWrite, input: CommitCall): Promise<void> {
  await lateUpdate(write.trx, write.writer.sessionId, write.at, input);
}

/** The writer is fenced, so its transaction is gone; the ledger alone takes what it has to tell. */
async function keepLate({ database, writer }: RunWrite, input: CommitCall): Promise<void> {
  await guarded(database, () =>
    database.writer.transaction().execute((trx) => lateUpdate(trx, writer.sessionId, timestamp(database), input)),
  );
}

async function lateUpdate(trx: SessionWrite['trx'], sessionId: string, at: string, input: CommitCall): Promise<void> {
  await trx
    .updateTable('tool_effects')
    .set({ late_result_json: JSON.stringify({ at, result: input.result }) })
    .where('session_id', '=', sessionId)
    .where('call_id', '=', input.callId)
    .where('completed_at', 'is', null)
    .where('late_result_json', 'is', null)
    .execute();
}
