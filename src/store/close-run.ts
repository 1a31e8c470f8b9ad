import { endRun } from './end-run.ts';
import { closeOpenBatch } from './open-batch.ts';
import { eventAt } from './read-messages.ts';
import { refused } from './refusals.ts';
import { isClosed, type Run } from './run-state.ts';
import { type RunWrite, writeRun } from './run-write.ts';
import type { SessionWrite } from './session-write.ts';
import type { ClosedRun, CloseRun, MessageOutcome, SettleBatch } from './store.ts';

/** See {@link Store.settleBatch}. */
export async function settleBatch(target: RunWrite, input: SettleBatch): Promise<{ readonly head: number }> {
  return await writeRun(target, async (write, run) => {
    if (!isClosed(run.status)) await closeOpenBatch(write, input.settlement);
    return { head: write.lastSeq };
  });
}

/** See {@link Store.closeRun}. */
export async function closeRun(target: RunWrite, input: CloseRun): Promise<ClosedRun> {
  return await writeRun(target, async (write, run) => {
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
