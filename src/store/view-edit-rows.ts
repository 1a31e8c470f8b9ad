import type { Kysely } from 'kysely';
import type { ViewEdit } from '../transcript/view-edits.ts';
import { chunked } from './chunked.ts';
import { preparedInsert } from './prepared.ts';
import { refused } from './refusals.ts';
import type { Schema } from './schema.ts';
import type { SessionWrite } from './session-write.ts';
import { revisionParts, revisionText } from './view-revision.ts';

/** Adds edits to the session's view, which becomes another revision. */
export async function appendEdits(
  write: SessionWrite,
  compactionId: string,
  edits: readonly ViewEdit[],
): Promise<void> {
  if (edits.length === 0) return;
  const stray = edits.find(({ seq }) => seq < 1 || seq > write.lastSeq);
  if (stray !== undefined) throw refused(`Item ${stray.seq}, which a view edit is about, is not in the session.`);
  const before = revisionParts(write.viewRevision);
  const rows = edits.map((edit, index) => ({
    session_id: write.writer.sessionId,
    n: before.edits + index,
    compaction_id: compactionId,
    seq: edit.seq,
    edit_json: JSON.stringify(edit),
    created_at: write.at,
  }));
  for (const chunk of chunked(rows)) await insertRows(write.trx, chunk);
  await setRevision(write, revisionText({ ...before, edits: before.edits + edits.length }));
}

export async function setRevision(write: SessionWrite, revision: string): Promise<void> {
  write.viewRevision = revision;
  await write.trx
    .updateTable('sessions')
    .set({ view_revision: revision })
    .where('session_id', '=', write.writer.sessionId)
    .execute();
}

/** See {@link Store.viewEdits}. */
export async function editsOf(
  db: Kysely<Schema>,
  sessionId: string,
  count: number | undefined,
  about: { readonly fromSeq: number; readonly seqs: readonly number[] } | undefined,
): Promise<readonly ViewEdit[]> {
  const edits = db
    .selectFrom('view_edits')
    .select(['n', 'edit_json'])
    .where('session_id', '=', sessionId)
    .$if(count !== undefined, (query) => query.where('n', '<', count ?? 0));
  if (about === undefined) return parsed(await edits.orderBy('n').execute());
  const rows = await edits.where('seq', '>=', about.fromSeq).execute();
  for (const seqs of chunked(about.seqs.filter((seq) => seq < about.fromSeq))) {
    rows.push(...(await edits.where('seq', 'in', seqs).execute()));
  }
  return parsed(rows.toSorted((left, right) => left.n - right.n));
}

function parsed(rows: readonly { readonly edit_json: string }[]): readonly ViewEdit[] {
  return rows.map((row): ViewEdit => JSON.parse(row.edit_json));
}

const insertRows = preparedInsert('view_edits');
