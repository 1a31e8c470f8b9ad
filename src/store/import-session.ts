import { appendItems } from './append-items.ts';
import type { Database } from './database.ts';
import { insertFinishedRun, titleOf } from './open-run.ts';
import { refused } from './refusals.ts';
import { writeSession } from './session-write.ts';
import type { ImportSession } from './store.ts';

/** See {@link Store.importSession}. */
export async function importSession(database: Database, input: ImportSession): Promise<{ readonly head: number }> {
  const { sessionId, runId, items } = input;
  // Claimed before any execution was: the first run of the session takes over.
  const writer = { sessionId, owner: 'import', scheduledAtMs: 0, activityId: 'import', attempt: 1 };
  return writeSession(
    database,
    writer,
    async (write) => {
      if (write.lastSeq > 0) throw refused(`Session ${sessionId} exists already; import into a new one.`);
      await insertFinishedRun(write, { runId, agent: 'import', config: {} });
      const first = items.find((item) => item.kind === 'user_message');
      if (first !== undefined) write.title = titleOf(first.content);
      for (const item of items) await appendItems(write, { runId, step: 0 }, [item]);
      return { head: write.lastSeq };
    },
    { create: true },
  );
}
