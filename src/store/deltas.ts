import { requestRow } from './begin-step.ts';
import { type Database, guarded } from './database.ts';
import { prepared, preparedInsert, type Value } from './prepared.ts';
import { isClosed, type Run } from './run-state.ts';
import { type RunWrite, writeRun } from './run-write.ts';
import type { SessionWrite } from './session-write.ts';
import type { AppendDeltas, Delta, DeltaPage } from './store.ts';

/** See {@link Store.appendDeltas}. */
export async function appendDeltas(target: RunWrite, input: AppendDeltas): Promise<void> {
  if (input.deltas.length === 0) return;
  const append = async (write: SessionWrite, run: Run): Promise<void> => {
    const { runId } = input.ref;
    if (isClosed(run.status)) return;
    const request = await requestRow(write, runId, input.step);
    if (request === undefined || request.outcome_json !== null) return;
    await insertDeltas(
      write.trx,
      input.deltas.map((delta, offset) => ({
        run_id: runId,
        step: input.step,
        attempt: input.attempt,
        n: input.from + offset,
        kind: delta.kind,
        text_json: JSON.stringify(delta.text),
      })),
    );
    write.news.add(runId);
  };
  await writeRun(target, append, { relaxed: true });
}

const insertDeltas = preparedInsert('event_deltas', 'conflicts');

/** See {@link Store.deltas}. Rows of a committed step are gone, so what is there is of the running one. */
export async function readDeltas(
  database: Database,
  runId: string,
  cursor?: { readonly step: number; readonly attempt: number; readonly next: number },
): Promise<DeltaPage | undefined> {
  return await guarded(database, async () => {
    const [newest] = (await newestAttempt(database.reader, { runId })).rows;
    if (newest === undefined) return undefined;
    const { step, attempt } = newest;
    const from = cursor?.step === step && cursor.attempt === attempt ? cursor.next : 0;
    const { rows } = await deltasFrom(database.reader, { runId, step, attempt, from });
    const deltas = rows.map((row): Delta => ({ kind: row.kind as Delta['kind'], text: JSON.parse(row.text_json) }));
    return { step, attempt, next: (rows.at(-1)?.n ?? from - 1) + 1, deltas };
  });
}

const newestAttempt = prepared((db, value: Value<{ runId: string }>) =>
  db
    .selectFrom('event_deltas')
    .select(['step', 'attempt'])
    .where('run_id', '=', value('runId'))
    .orderBy('step', 'desc')
    .orderBy('attempt', 'desc')
    .limit(1),
);

const deltasFrom = prepared((db, value: Value<{ runId: string; step: number; attempt: number; from: number }>) =>
  db
    .selectFrom('event_deltas')
    .select(['n', 'kind', 'text_json'])
    .where('run_id', '=', value('runId'))
    .where('step', '=', value('step'))
    .where('attempt', '=', value('attempt'))
    .where('n', '>=', value('from'))
    .orderBy('n'),
);
