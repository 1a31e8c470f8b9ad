import type { Kysely } from 'kysely';
import { appendEvents } from './append-events.ts';
import { phaseBefore } from './commit-phase.ts';
import type { CommitCheckpoint, CommittedPhase } from './compaction-port.ts';
import { insertPhase, RESULT_PHASE } from './phase-rows.ts';
import { preparedInsert } from './prepared.ts';
import { storable } from './readable-text.ts';
import { refused } from './refusals.ts';
import { type RunWrite, writeRun } from './run-write.ts';
import type { Schema } from './schema.ts';
import type { SessionWrite } from './session-write.ts';
import { sourceHashOf } from './source-hash.ts';
import { setRevision } from './view-edit-rows.ts';
import { revisionParts, revisionText } from './view-revision.ts';

/** See {@link Store.commitCheckpoint}. */
export async function commitCheckpoint(target: RunWrite, input: CommitCheckpoint): Promise<CommittedPhase> {
  return await writeRun(target, async (write, run) => {
    const { compactionId } = input;
    const before = await phaseBefore(write, run, { compactionId, phase: RESULT_PHASE });
    if (before !== undefined) return before;
    if (await isStale(write, input)) return { status: 'stale', revision: write.viewRevision };
    await insertCheckpoint(write, input);
    await insertPhase(write, { ...input, phase: RESULT_PHASE });
    await setRevision(write, revisionText({ ...revisionParts(write.viewRevision), compactionId }));
    await appendEvents(write, input.ref.runId, input.events);
    return { status: 'committed', output: input.output, revision: write.viewRevision };
  });
}

async function isStale(write: SessionWrite, input: CommitCheckpoint): Promise<boolean> {
  if (input.revision !== write.viewRevision) return true;
  const { fromSeq, toSeq, sourceHash } = input;
  return (await sourceHashOf(write.trx, write.writer.sessionId, fromSeq, toSeq)) !== sourceHash;
}

/** @throws StoreError `Internal` for a cut that is none: what it replaces or protects would not lie before it. */
async function insertCheckpoint(write: SessionWrite, input: CommitCheckpoint): Promise<void> {
  const { firstKeptSeq, protectedSeqs, toSeq } = input;
  const { sessionId } = write.writer;
  const last = await lastCheckpoint(write.trx, sessionId);
  const earliest = last?.first_kept_seq ?? 1;
  if (firstKeptSeq < earliest || firstKeptSeq > write.lastSeq + 1) {
    throw refused(`A checkpoint that keeps items from ${firstKeptSeq} on does not fit the session.`);
  }
  if (Math.max(toSeq, ...protectedSeqs) >= firstKeptSeq) throw refused('A checkpoint replaces what is before its cut.');
  await insertRow(write.trx, [
    {
      session_id: sessionId,
      compaction_id: input.compactionId,
      n: (last?.n ?? -1) + 1,
      trigger: input.trigger,
      reason: storable(input.reason),
      summary: storable(input.summary),
      first_kept_turn_id: await turnAt(write.trx, sessionId, firstKeptSeq),
      first_kept_seq: firstKeptSeq,
      protected_seqs_json: JSON.stringify(protectedSeqs),
      source_hash: input.sourceHash,
      tokens_before: input.tokensBefore,
      tokens_after: input.tokensAfter,
      provider_id: input.providerId,
      model: input.model,
      quality_json: JSON.stringify(input.quality),
      metadata_json: JSON.stringify(input.metadata),
      created_at: write.at,
    },
  ]);
}

async function lastCheckpoint(db: Kysely<Schema>, sessionId: string) {
  return await db
    .selectFrom('session_compactions')
    .select(['n', 'first_kept_seq'])
    .where('session_id', '=', sessionId)
    .orderBy('n', 'desc')
    .limit(1)
    .executeTakeFirst();
}

/** The user's message that the turn of an item began with; none before the first. */
async function turnAt(db: Kysely<Schema>, sessionId: string, seq: number): Promise<number | null> {
  const row = await db
    .selectFrom('transcript_items')
    .select('seq')
    .where('session_id', '=', sessionId)
    .where('superseded_by', 'is', null)
    .where('kind', '=', 'user_message')
    .where('origin', '=', 'user')
    .where('seq', '<=', seq)
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.seq ?? null;
}

const insertRow = preparedInsert('session_compactions');
