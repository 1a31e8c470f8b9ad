import type { Database } from './database.ts';
import { checkStore, type Run, runOf } from './run-state.ts';
import { type SessionWrite, type WriteRules, writeSession } from './session-write.ts';
import type { RunRef, Writer } from './store.ts';
import { supersede } from './supersede.ts';

/** Which store a write is for, who writes, and for which run. */
export interface RunWrite {
  readonly database: Database;
  readonly storeId: string;
  readonly writer: Writer;
  readonly ref: RunRef;
}

/**
 * Runs `work` in one transaction behind the fence, on a run of this store that is not ahead of it. The run may be
 * closed: `work` then tells its status and writes nothing. The first write of an execution that came of a reset supersedes
 * what is later.
 *
 * @throws StoreError `StoreMismatch`, `Fenced`, `StoreBehind`, `NotFound`, `InvalidInput` for a reset of an older run.
 */
export async function writeRun<T>(
  target: RunWrite,
  work: (write: SessionWrite, run: Run) => Promise<T>,
  rules: WriteRules = {},
): Promise<T> {
  const { database, storeId, writer, ref } = target;
  checkStore(storeId, ref.storeId);
  const all = { ...rules, head: ref.head };
  return await writeSession(
    database,
    writer,
    async (write) => {
      const run = await runOf(write, ref);
      const first = ref.reset !== undefined && write.tookOver;
      return await work(write, first ? await supersede(write, run, ref.head, ref.reset) : run);
    },
    all,
  );
}
