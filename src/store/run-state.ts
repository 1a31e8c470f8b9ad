import type { RunStatus } from '../transcript/events.ts';
import { prepared, type Value } from './prepared.ts';
import { notFound, refused, storeBehind, storeMismatch } from './refusals.ts';
import type { AgentRunsTable } from './schema.ts';
import type { SessionWrite } from './session-write.ts';
import type { RunRef } from './store.ts';

/** Whether a run of this status accepts no further write. */
const CLOSED: Readonly<Record<RunStatus, boolean>> = {
  running: false,
  waiting: false,
  completed: true,
  cancelled: true,
  failed: true,
  abandoned: true,
};

export function isClosed(status: RunStatus): boolean {
  return CLOSED[status];
}

/** A run's row with its status as our word for it. */
export interface Run extends Omit<AgentRunsTable, 'status'> {
  readonly status: RunStatus;
}

/** @throws StoreError `StoreMismatch` when the run was started on another store. */
export function checkStore(ownId: string, storeId: string | undefined): void {
  if (storeId !== undefined && storeId !== ownId) {
    throw storeMismatch(`The run belongs to store ${storeId}, and this is store ${ownId}.`);
  }
}

/**
 * The run that a writer names. Open runs only are held against the workflow's head, for a closed one accepts nothing.
 *
 * @throws StoreError `StoreBehind`, `NotFound`, `Internal` when the run is another session's.
 */
export async function runOf(write: SessionWrite, ref: RunRef): Promise<Run> {
  const run = await runById(write, ref.runId);
  const { sessionId, owner } = write.writer;
  if (run === undefined) {
    if (write.lastSeq < ref.head) throw storeBehind(sessionId, write.lastSeq, ref.head);
    throw notFound(`There is no run ${ref.runId} in this store.`);
  }
  if (run.session_id !== sessionId) throw refused(`Run ${ref.runId} is of session ${run.session_id}.`);
  if (isClosed(run.status)) return run;
  if (write.lastSeq < ref.head) throw storeBehind(sessionId, write.lastSeq, ref.head);
  if (run.owner !== owner) {
    await write.trx.updateTable('agent_runs').set({ owner }).where('run_id', '=', run.run_id).execute();
  }
  return run;
}

export async function runById(write: SessionWrite, runId: string): Promise<Run | undefined> {
  const [row] = (await runRow(write.trx, { runId })).rows;
  return row === undefined ? undefined : asRun(row);
}

const runRow = prepared((db, value: Value<{ runId: string }>) =>
  db.selectFrom('agent_runs').selectAll().where('run_id', '=', value('runId')),
);

/** The status column is written by this layer only. */
export function asRun(row: AgentRunsTable): Run {
  return { ...row, status: row.status as RunStatus };
}
