import { chunked } from './chunked.ts';
import { preparedInsert } from './prepared.ts';
import type { ResetPoint } from './reset-port.ts';
import type { CompactionPhasesTable, SessionCompactionsTable } from './schema.ts';
import type { SessionWrite } from './session-write.ts';
import { setRevision } from './view-edit-rows.ts';
import { revisionText } from './view-revision.ts';

/** Tables whose keys the new branch needs again: what a reset leaves behind is kept as JSON. */
type SupersededTable = 'requests' | 'session_compactions' | 'compaction_phases' | 'view_edits';

async function putAside(write: SessionWrite, table: SupersededTable, rows: readonly object[]): Promise<void> {
  const { owner, sessionId } = write.writer;
  const kept = rows.map((row, n) => ({
    superseded_by: owner,
    table_name: table,
    n,
    session_id: sessionId,
    row_json: JSON.stringify(row),
    created_at: write.at,
  }));
  for (const chunk of chunked(kept)) await insertKept(write.trx, chunk);
}

const insertKept = preparedInsert('superseded_rows');

/** Requests of steps that are made anew. What they cost stays, under a purpose of its own. */
export async function supersedeRequests(
  write: SessionWrite,
  runId: string,
  { head, answered }: { readonly head: number; readonly answered: number },
): Promise<void> {
  const of = write.trx.selectFrom('requests').selectAll().where('run_id', '=', runId);
  const rows = await of
    .where((is) => is.or([is('step', '>', answered), is('head_at_begin', '>', head)]))
    .orderBy('step')
    .execute();
  await putAside(write, 'requests', rows);
  for (const { step } of rows) {
    await write.trx.deleteFrom('requests').where('run_id', '=', runId).where('step', '=', step).execute();
    await renamePurpose(write, runId, step, 'step');
  }
}

/**
 * Compactions that ended or began after the point, with their edits: the view becomes the one of that time. One that
 * replaced a superseded item goes too, whatever the step says.
 *
 * @param firstGone position of the first superseded item.
 */
export async function supersedeCompactions(
  write: SessionWrite,
  runId: string,
  reset: ResetPoint,
  firstGone: number,
): Promise<void> {
  const phases = await write.trx
    .selectFrom('compaction_phases')
    .selectAll()
    .where('session_id', '=', write.writer.sessionId)
    .orderBy('n')
    .execute();
  const checkpoints = await write.trx
    .selectFrom('session_compactions')
    .selectAll()
    .where('session_id', '=', write.writer.sessionId)
    .orderBy('n')
    .execute();
  const gonePhases = laterPhases(phases, checkpoints, { runId, reset, firstGone });
  if (gonePhases.length === 0) return;
  const ids = [...new Set(gonePhases.map((phase) => phase.compaction_id))];
  const edits = await write.trx
    .selectFrom('view_edits')
    .selectAll()
    .where('session_id', '=', write.writer.sessionId)
    .orderBy('n')
    .execute();
  const keptEdits = edits.filter((edit) => !ids.includes(edit.compaction_id));
  const keptCheckpoints = checkpoints.filter((row) => !ids.includes(row.compaction_id));
  await putAside(write, 'compaction_phases', gonePhases);
  await putAside(write, 'view_edits', edits.slice(keptEdits.length));
  await putAside(write, 'session_compactions', checkpoints.slice(keptCheckpoints.length));
  for (const id of ids) await removeCompaction(write, id);
  for (const { compaction_id, phase, step } of gonePhases) {
    await renamePurpose(write, runId, step, `compaction/${compaction_id}/${phase}`);
  }
  const compactionId = keptCheckpoints.at(-1)?.compaction_id;
  await setRevision(write, revisionText({ compactionId, edits: keptEdits.length }));
}

function laterPhases(
  phases: readonly CompactionPhasesTable[],
  checkpoints: readonly SessionCompactionsTable[],
  { runId, reset, firstGone }: { readonly runId: string; readonly reset: ResetPoint; readonly firstGone: number },
): readonly CompactionPhasesTable[] {
  const known = phases.findLast((phase) => phase.compaction_id === reset.afterCompaction)?.n ?? -1;
  const cutting = new Set(
    checkpoints.filter((row) => row.first_kept_seq > firstGone).map(({ compaction_id }) => compaction_id),
  );
  const from = phases.findIndex(
    (phase) =>
      (phase.run_id === runId && phase.step > reset.answered && phase.n > known) || cutting.has(phase.compaction_id),
  );
  return from === -1 ? [] : phases.slice(from);
}

async function removeCompaction({ trx, writer }: SessionWrite, id: string): Promise<void> {
  for (const table of ['session_compactions', 'view_edits', 'compaction_phases'] as const) {
    await trx.deleteFrom(table).where('session_id', '=', writer.sessionId).where('compaction_id', '=', id).execute();
  }
}

/** Frees the key of what was paid for, and keeps the sums. */
async function renamePurpose({ trx, writer }: SessionWrite, runId: string, step: number, purpose: string) {
  for (const table of ['usage', 'budgets'] as const) {
    const rows = await trx
      .selectFrom(table)
      .select('purpose')
      .where('run_id', '=', runId)
      .where('step', '=', step)
      .execute();
    const same = rows.filter((row) => row.purpose === purpose || row.purpose.startsWith(`${purpose}#`));
    for (const row of same) {
      await trx
        .updateTable(table)
        .set({ purpose: `${row.purpose}@${writer.owner}` })
        .where('run_id', '=', runId)
        .where('step', '=', step)
        .where('purpose', '=', row.purpose)
        .execute();
    }
  }
}
