import type { Database } from './database.ts';
import { endRun } from './end-run.ts';
import { closeOpenBatch } from './open-batch.ts';
import { eventAt } from './read-messages.ts';
import { refused } from './refusals.ts';
import { checkStore, isClosed, type Run, runOf } from './run-state.ts';
import { type SessionWrite, writeSession } from './session-write.ts';
import type { ClosedRun, CloseRun, MessageOutcome, SettleBatch, Writer } from './store.ts';

/** See {@link Store.settleBatch}. */
export async function settleBatch(
  database: Database,
  storeId: string,
  writer: Writer,
  input: SettleBatch,
): Promise<{ readonly head: number }> {
  checkStore(storeId, input.ref.storeId);
  return await writeSession(database, writer, async (write) => {
    const run = await runOf(write, input.ref);
    if (!isClosed(run.status)) await closeOpenBatch(write, input.settlement);
    return { head: write.lastSeq };
  });
}

/** See {@link Store.closeRun}. */
export async function closeRun(
  database: Database,
  storeId: string,
  writer: Writer,
  input: CloseRun,
): Promise<ClosedRun> {
  checkStore(storeId, input.ref.storeId);
  return await writeSession(database, writer, async (write) => {
    const run = await runOf(write, input.ref);
    if (isClosed(run.status)) return { head: write.lastSeq, status: run.status, final: await storedEnding(write, run) };
    const { status, final: wanted, events, dropped } = input;
    const final = await endRun(write, run, { status, final: wanted, events, dropped });
    return { head: write.lastSeq, status, final };
  });
}

async function storedEnding(write: SessionWrite, run: Run): Promise<MessageOutcome['event']> {
  const ending = run.final_index === null ? undefined : await eventAt(write.trx, run.run_id, run.final_index);
  if (ending === undefined) throw refused(`Run ${run.run_id} is closed and has no terminal event.`);
  return ending;
}
