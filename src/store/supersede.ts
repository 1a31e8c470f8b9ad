import type { ToolResult, ToolResultBatch, UserMessage } from '../transcript/items.ts';
import { appendEvents } from './append-events.ts';
import { chunked } from './chunked.ts';
import { notFound, notLatest } from './refusals.ts';
import type { ResetPoint } from './reset-port.ts';
import { type Run, runById } from './run-state.ts';
import type { SessionWrite } from './session-write.ts';
import { supersedeCompactions, supersedeRequests } from './superseded-rows.ts';

/**
 * Makes a branch of what earlier executions committed of the run after `head`: a reset goes on from there. Items stay
 * where they are, marked; positions and event indices go on; what was spent stays spent. The run is open again, and
 * messages that joined or ended later wait again.
 *
 * @throws StoreError `InvalidInput` when the session has a later run.
 */
export async function supersede(write: SessionWrite, run: Run, head: number, reset: ResetPoint): Promise<Run> {
  await checkLatest(write, run);
  const gone = await laterItems(write, head);
  await write.trx
    .updateTable('transcript_items')
    .set({ superseded_by: write.writer.owner })
    .where('session_id', '=', write.writer.sessionId)
    .where('seq', '>', head)
    .where('superseded_by', 'is', null)
    .execute();
  await reopenBatch(write, head, gone);
  await supersedeRequests(write, run.run_id, { head, answered: reset.answered });
  await supersedeCompactions(write, run.run_id, reset, gone[0]?.seq ?? write.lastSeq + 1);
  await releaseMessages(write, run.run_id, gone);
  await write.trx.deleteFrom('event_deltas').where('run_id', '=', run.run_id).execute();
  await write.trx
    .updateTable('agent_runs')
    .set({ status: 'running', completed_at: null, final_index: null, owner: write.writer.owner })
    .where('run_id', '=', run.run_id)
    .execute();
  await appendEvents(write, run.run_id, [
    { type: 'model_attempt_restarted', step: reset.answered + 1, attempt: 1, reason: 'the run was reset' },
  ]);
  write.changed = true;
  const open = await runById(write, run.run_id);
  if (open === undefined) throw notFound(`There is no run ${run.run_id} in this store.`);
  return open;
}

async function checkLatest(write: SessionWrite, run: Run): Promise<void> {
  const later = await write.trx
    .selectFrom('agent_runs')
    .select('run_id')
    .where('session_id', '=', run.session_id)
    .where('run_number', '>', run.run_number)
    .limit(1)
    .executeTakeFirst();
  if (later !== undefined) throw notLatest(run.session_id, run.run_id);
}

interface Gone {
  readonly seq: number;
  readonly kind: string;
  readonly item_json: string;
}

async function laterItems(write: SessionWrite, head: number): Promise<readonly Gone[]> {
  return await write.trx
    .selectFrom('transcript_items')
    .select(['seq', 'kind', 'item_json'])
    .where('session_id', '=', write.writer.sessionId)
    .where('seq', '>', head)
    .where('superseded_by', 'is', null)
    .orderBy('seq')
    .execute();
}

/** A batch whose results are superseded awaits them again: those that calls gave stand, so they are the same. */
async function reopenBatch(write: SessionWrite, head: number, gone: readonly Gone[]): Promise<void> {
  const [last] = await write.trx
    .selectFrom('transcript_items')
    .select('kind')
    .where('session_id', '=', write.writer.sessionId)
    .where('seq', '=', head)
    .where('superseded_by', 'is', null)
    .execute();
  write.openBatchSeq = last?.kind === 'tool_call_batch' ? head : null;
  const [next] = gone;
  if (write.openBatchSeq === null || next?.kind !== 'tool_result_batch') return;
  const { results }: ToolResultBatch = JSON.parse(next.item_json);
  for (const result of results) await restoreResult(write, result);
}

/** How a run's end settles calls: such a result is no outcome of the call's own. */
const SETTLED: ReadonlySet<ToolResult['status']> = new Set(['aborted', 'cancelled', 'unknown_outcome']);

async function restoreResult(write: SessionWrite, result: ToolResult): Promise<void> {
  const { sessionId } = write.writer;
  const settled = SETTLED.has(result.status) && !(await ranOnce(write, result.callId));
  const restored = settled
    ? { stored_json: null, result_json: null, output_units: null, completed_at: null }
    : { result_json: JSON.stringify(result) };
  await write.trx
    .updateTable('tool_calls')
    .set(restored)
    .where('session_id', '=', sessionId)
    .where('call_id', '=', result.callId)
    .execute();
  if (!settled) return;
  const outputs = write.trx.deleteFrom('tool_outputs').where('session_id', '=', sessionId);
  await outputs.where('call_id', '=', result.callId).execute();
}

/** Whether the call began and must not begin again. */
async function ranOnce(write: SessionWrite, callId: string): Promise<boolean> {
  const row = await write.trx
    .selectFrom('tool_effects')
    .select('effect')
    .where('session_id', '=', write.writer.sessionId)
    .where('call_id', '=', callId)
    .executeTakeFirst();
  return row?.effect === 'at_most_once';
}

/** The workflow hands in again what joined after the point; what the run ended has not ended. */
async function releaseMessages(write: SessionWrite, runId: string, gone: readonly Gone[]): Promise<void> {
  const { sessionId } = write.writer;
  const joined = gone.flatMap(({ kind, item_json }) => {
    const item: Partial<UserMessage> = kind === 'user_message' ? JSON.parse(item_json) : {};
    return item.messageId ?? [];
  });
  for (const ids of chunked(joined)) {
    await write.trx
      .updateTable('messages')
      .set({ run_id: null })
      .where('session_id', '=', sessionId)
      .where('run_id', '=', runId)
      .where('message_id', 'in', ids)
      .execute();
  }
  await write.trx
    .updateTable('messages')
    .set({ outcome_run_id: null, outcome_index: null })
    .where('session_id', '=', sessionId)
    .where('outcome_run_id', '=', runId)
    .execute();
}
