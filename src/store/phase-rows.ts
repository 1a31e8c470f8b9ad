import type { Kysely } from 'kysely';
import type { CommitPhase, PhaseRow } from './compaction-port.ts';
import { prepared, preparedInsert, type Value } from './prepared.ts';
import type { CompactionPhasesTable, Schema } from './schema.ts';
import type { SessionWrite } from './session-write.ts';

/** The phase that ends a compaction; a checkpoint is one's outcome. */
export const RESULT_PHASE = 'result';

/** Writes the outcome of a phase; its number makes sure of the order even among equal times. */
export async function insertPhase(
  write: SessionWrite,
  { ref, step, compactionId, phase, output, usage = [] }: Omit<CommitPhase, 'events'>,
): Promise<void> {
  const { sessionId } = write.writer;
  const [last] = (await lastPhase(write.trx, { sessionId })).rows;
  await insertRow(write.trx, [
    {
      compaction_id: compactionId,
      phase,
      session_id: sessionId,
      n: (last?.n ?? -1) + 1,
      run_id: ref.runId,
      step,
      output_json: JSON.stringify(output),
      usage_json: JSON.stringify(usage),
      created_at: write.at,
    },
  ]);
}

/** A phase that was committed before. */
export async function storedPhase(
  db: Kysely<Schema>,
  compactionId: string,
  phase: string,
): Promise<PhaseRow | undefined> {
  const [row] = (await phaseRow(db, { compactionId, phase })).rows;
  return row === undefined ? undefined : toPhaseRow(row);
}

/** See {@link Store.phases}. */
export async function phasesOf(db: Kysely<Schema>, compactionId: string): Promise<readonly PhaseRow[]> {
  const query = db.selectFrom('compaction_phases').selectAll().where('compaction_id', '=', compactionId).orderBy('n');
  return (await query.execute()).map(toPhaseRow);
}

/** See {@link Store.compactionResults}. */
export async function resultsOf(db: Kysely<Schema>, sessionId: string): Promise<readonly PhaseRow[]> {
  const query = db
    .selectFrom('compaction_phases')
    .selectAll()
    .where('session_id', '=', sessionId)
    .where('phase', '=', RESULT_PHASE)
    .orderBy('n');
  return (await query.execute()).map(toPhaseRow);
}

function toPhaseRow(row: CompactionPhasesTable): PhaseRow {
  return {
    compactionId: row.compaction_id,
    phase: row.phase,
    runId: row.run_id,
    output: JSON.parse(row.output_json),
    usage: JSON.parse(row.usage_json),
    createdAt: row.created_at,
  };
}

const lastPhase = prepared((db, value: Value<{ sessionId: string }>) =>
  db
    .selectFrom('compaction_phases')
    .select('n')
    .where('session_id', '=', value('sessionId'))
    .orderBy('n', 'desc')
    .limit(1),
);

const phaseRow = prepared((db, value: Value<{ compactionId: string; phase: string }>) =>
  db
    .selectFrom('compaction_phases')
    .selectAll()
    .where('compaction_id', '=', value('compactionId'))
    .where('phase', '=', value('phase')),
);

const insertRow = preparedInsert('compaction_phases');
