import type { Database } from './database.ts';
import { checkStore, type Run, runOf } from './run-state.ts';
import { type SessionWrite, type WriteRules, writeSession } from './session-write.ts';
import type { RunRef, Writer } from './store.ts';

/** Which store a write is for, who writes, and for which run. */
export interface RunWrite {
  readonly database: Database;
  readonly storeId: string;
  readonly writer: Writer;
  readonly ref: RunRef;
}

/**
 * Runs `work` in one transaction behind the fence, on a run of this store that is not ahead of it. The run may be
 * closed: `work` then tells its status and writes nothing.
 *
 * @throws StoreError `StoreMismatch`, `Fenced`, `StoreBehind`, `NotFound`.
 */
export async function writeRun<T>(
  target: RunWrite,
  work: (write: SessionWrite, run: Run) => Promise<T>,
  rules: WriteRules = {},
): Promise<T> {
  const { database, storeId, writer, ref } = target;
  checkStore(storeId, ref.storeId);
  const all = { ...rules, head: ref.head };
  return await writeSession(database, writer, async (write) => await work(write, await runOf(write, ref)), all);
}
