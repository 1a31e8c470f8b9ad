import type { Kysely } from 'kysely';
import type { CompactionTrigger } from '../transcript/events.ts';
import type { CheckpointRow } from './compaction-port.ts';
import { prepared, type Value } from './prepared.ts';
import { notFound } from './refusals.ts';
import type { Schema, SessionCompactionsTable } from './schema.ts';

/** See {@link Store.checkpoint}. */
export async function checkpointOf(
  db: Kysely<Schema>,
  sessionId: string,
  compactionId: string | undefined,
): Promise<CheckpointRow | undefined> {
  const row = await db
    .selectFrom('session_compactions')
    .selectAll()
    .where('session_id', '=', sessionId)
    .$if(compactionId !== undefined, (query) => query.where('compaction_id', '=', compactionId ?? ''))
    .orderBy('n', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row === undefined ? undefined : toCheckpointRow(row);
}

/** See {@link Store.checkpoints}. */
export async function checkpointsOf(db: Kysely<Schema>, sessionId: string): Promise<readonly CheckpointRow[]> {
  const query = db.selectFrom('session_compactions').selectAll().where('session_id', '=', sessionId).orderBy('n');
  return (await query.execute()).map(toCheckpointRow);
}

/** See {@link Store.viewRevision}. */
export async function revisionOf(db: Kysely<Schema>, sessionId: string): Promise<string> {
  const [row] = (await sessionRevision(db, { sessionId })).rows;
  if (row === undefined) throw notFound(`There is no session ${sessionId} in this store.`);
  return row.view_revision;
}

const sessionRevision = prepared((db, value: Value<{ sessionId: string }>) =>
  db.selectFrom('sessions').select('view_revision').where('session_id', '=', value('sessionId')),
);

function toCheckpointRow(row: SessionCompactionsTable): CheckpointRow {
  return {
    compactionId: row.compaction_id,
    sessionId: row.session_id,
    trigger: row.trigger as CompactionTrigger,
    reason: row.reason,
    summary: row.summary,
    firstKeptTurnId: row.first_kept_turn_id,
    firstKeptSeq: row.first_kept_seq,
    protectedSeqs: JSON.parse(row.protected_seqs_json),
    sourceHash: row.source_hash,
    tokensBefore: row.tokens_before,
    tokensAfter: row.tokens_after,
    providerId: row.provider_id,
    model: row.model,
    quality: JSON.parse(row.quality_json),
    metadata: JSON.parse(row.metadata_json),
    createdAt: row.created_at,
  };
}
