import { appendEvents } from './append-events.ts';
import { undecided } from './approval-rows.ts';
import { recordAttempt } from './fence.ts';
import { prepared, type Value } from './prepared.ts';
import { refused } from './refusals.ts';
import { isClosed, type Run } from './run-state.ts';
import { type RunWrite, writeRun } from './run-write.ts';
import type { ToolEffectsTable } from './schema.ts';
import type { SessionWrite } from './session-write.ts';
import type { BeginCall, BegunCall, StoredResult, Writer } from './store.ts';

/** See {@link Store.beginCall}. */
export async function beginCall(target: RunWrite, input: BeginCall): Promise<BegunCall> {
  // An attempt that finds a fresh lease only waits: the one that holds it must still be able to commit.
  const rules = { beginsAttempt: input.effect !== 'at_most_once' };
  return await writeRun(target, (write, run) => begun(write, run, input), rules);
}

async function begun(write: SessionWrite, run: Run, input: BeginCall): Promise<BegunCall> {
  if (isClosed(run.status)) return { status: 'closed', runStatus: run.status };
  const known = await storedCall(write, input.callId);
  if (known !== undefined) return { status: 'done', result: known };

  if (input.effect === 'at_most_once') {
    const effect = await effectRow(write, input.callId);
    if (effect !== undefined && !isOwn(write.writer, effect)) {
      if (effect.lease_until_ms > write.nowMs) return { status: 'leased', untilMs: effect.lease_until_ms };
      await recordAttempt(write.trx, write.writer);
      if (input.takeOver !== true) return { status: 'lost' };
      await takeOver(write, input);
      await start(write, input);
      return { status: 'run' };
    }
    if (write.writer.attempt > 1) await recordAttempt(write.trx, write.writer);
    if (effect !== undefined) return { status: 'run' };
  }
  if (input.effect !== 'read_only') await noteEffect(write, input);
  await start(write, input);
  return { status: 'run' };
}

/**
 * The result of a call, when it has one.
 *
 * @throws StoreError `Internal` for a call that the session never asked for.
 */
export async function storedCall(write: SessionWrite, callId: string): Promise<StoredResult | undefined> {
  const { sessionId } = write.writer;
  const [row] = (await callRow(write.trx, { sessionId, callId })).rows;
  if (row === undefined) throw refused(`No batch of session ${sessionId} asks for call ${callId}.`);
  return row.stored_json === null ? undefined : JSON.parse(row.stored_json);
}

/** The same attempt asking again: it has not run the tool, for it runs it only after the answer. */
function isOwn(writer: Writer, effect: Pick<ToolEffectsTable, 'owner' | 'activity_id' | 'attempt'>): boolean {
  return effect.owner === writer.owner && effect.activity_id === writer.activityId && effect.attempt === writer.attempt;
}

async function effectRow(write: SessionWrite, callId: string) {
  return await write.trx
    .selectFrom('tool_effects')
    .select(['owner', 'activity_id', 'attempt', 'lease_until_ms'])
    .where('session_id', '=', write.writer.sessionId)
    .where('call_id', '=', callId)
    .executeTakeFirst();
}

/** The ledger's entry. An idempotent call may be begun again; of an at-most-once call this is the only start. */
async function noteEffect(write: SessionWrite, input: BeginCall): Promise<void> {
  const { owner, activityId, attempt, sessionId } = write.writer;
  const start = { owner, activity_id: activityId, attempt, lease_until_ms: write.nowMs + input.leaseMs };
  await write.trx
    .insertInto('tool_effects')
    .values({
      session_id: sessionId,
      call_id: input.callId,
      run_id: input.ref.runId,
      name: input.name,
      effect: input.effect,
      ...start,
      started_at: write.at,
      completed_at: null,
      late_result_json: null,
    })
    .$if(input.effect === 'idempotent', (query) =>
      query.onConflict((conflict) => conflict.columns(['session_id', 'call_id']).doUpdateSet(start)),
    )
    .execute();
}

/** The entry becomes this attempt's, with a lease of its own. */
async function takeOver(write: SessionWrite, input: BeginCall): Promise<void> {
  const { owner, activityId, attempt, sessionId } = write.writer;
  await write.trx
    .updateTable('tool_effects')
    .set({ owner, activity_id: activityId, attempt, lease_until_ms: write.nowMs + input.leaseMs })
    .where('session_id', '=', sessionId)
    .where('call_id', '=', input.callId)
    .execute();
}

async function start(write: SessionWrite, input: BeginCall): Promise<void> {
  const { attempt, sessionId } = write.writer;
  await markStarted(write.trx, { at: write.at, attempt, sessionId, callId: input.callId });
  const events = input.decision === undefined ? [input.event] : [input.decision, input.event];
  await appendEvents(write, input.ref.runId, await undecided(write, events));
}

const callRow = prepared((db, value: Value<{ sessionId: string; callId: string }>) =>
  db
    .selectFrom('tool_calls')
    .select('stored_json')
    .where('session_id', '=', value('sessionId'))
    .where('call_id', '=', value('callId')),
);

const markStarted = prepared((db, value: Value<{ at: string; attempt: number; sessionId: string; callId: string }>) =>
  db
    .updateTable('tool_calls')
    .set({ started_at: value('at'), attempt: value('attempt') })
    .where('session_id', '=', value('sessionId'))
    .where('call_id', '=', value('callId')),
);
