import { type Kysely, sql, type Transaction } from 'kysely';
import { groupsOf } from '../transcript/groups.ts';
import type { AgentItem } from '../transcript/items.ts';
import { chunked } from './chunked.ts';
import type { ForkSession } from './compaction-port.ts';
import { type Database, guarded, timestamp } from './database.ts';
import { StoreError } from './errors.ts';
import { factId } from './fact-id.ts';
import { insertFinishedRun } from './open-run.ts';
import { checkpointOf } from './read-checkpoints.ts';
import { toFactRow } from './read-facts.ts';
import { entriesOf } from './read-transcript.ts';
import { notFound } from './refusals.ts';
import type { Schema } from './schema.ts';
import { revisionText } from './view-revision.ts';

/**
 * See {@link Store.forkSession}. Positions, call ids and compaction ids stay the same, so that whatever refers to them
 * still does. Facts without a source are the session's as a whole and go along.
 *
 * @throws StoreError `InvalidInput` when the target exists or `atSeq` is no place to cut, `NotFound`.
 */
export async function forkSession(database: Database, input: ForkSession): Promise<{ readonly head: number }> {
  const callIds = await cutCalls(database, input);
  return await guarded(database, () =>
    database.writer.transaction().execute(async (trx) => {
      const fork: Fork = { trx, input, at: timestamp(database) };
      await lockSource(fork, database.kind === 'postgres');
      await makeTarget(fork);
      await copyItems(fork);
      await copyCalls(fork, callIds);
      await copyView(fork);
      await copyFacts(fork);
      return { head: input.atSeq };
    }),
  );
}

interface Fork {
  readonly trx: Transaction<Schema>;
  readonly input: ForkSession;
  /** ISO 8601 UTC. */
  readonly at: string;
}

/** Calls before the cut, once it is known to be one. Items never change, so this may look before the transaction begins. */
async function cutCalls(database: Database, { fromSessionId, atSeq }: ForkSession): Promise<readonly string[]> {
  const entries = await guarded(database, () => entriesOf(database.reader, fromSessionId, {}));
  const last = entries.findIndex(({ seq }) => seq === atSeq);
  if (entries.length === 0) throw notFound(`There is no session ${fromSessionId} in this store.`);
  if (last === -1) throw noCut(atSeq, `session ${fromSessionId} has no item ${atSeq}`);
  if (isOpen(entries[last]?.item)) throw noCut(atSeq, `the calls of item ${atSeq} have no results yet`);
  const ends = groupsOf(entries.map(({ item }) => item)).map(({ end }) => entries[end - 1]?.seq ?? 0);
  const next = ends.find((end) => end >= atSeq);
  if (next !== atSeq) throw noCut(atSeq, `what belongs together there ends at item ${next}`);
  const prefix = entries.slice(0, last + 1).map(({ item }) => item);
  return prefix.flatMap((item) => (item.kind === 'tool_call_batch' ? item.calls.map(({ callId }) => callId) : []));
}

function isOpen(item: AgentItem | undefined): boolean {
  return item?.kind === 'tool_call_batch';
}

function noCut(atSeq: number, why: string): StoreError {
  const hint = 'Fork at the end of a message, or behind the results of its tools.';
  return new StoreError('InvalidInput', `A session cannot be forked at item ${atSeq}: ${why}.`, hint);
}

/** Keeps compactions of the source out until the copy is made; nothing of it changes. */
async function lockSource({ trx, input }: Fork, lock: boolean): Promise<void> {
  await trx
    .selectFrom('sessions')
    .select('session_id')
    .where('session_id', '=', input.fromSessionId)
    .$if(lock, (query) => query.forUpdate())
    .execute();
}

async function makeTarget({ trx, input, at }: Fork): Promise<void> {
  const { fromSessionId, toSessionId, atSeq, runId } = input;
  // Claimed before any execution was: the first run of the session takes over.
  const made = await sql`insert into sessions
    (session_id, title, created_at, updated_at, owner, claimed_at_ms, last_seq, open_batch_seq, view_revision)
    select ${toSessionId}, title, ${at}, ${at}, 'fork', 0, ${sql.lit(atSeq)}, null, 'start/0'
      from sessions where session_id = ${fromSessionId}
    on conflict do nothing`.execute(trx);
  if (Number(made.numAffectedRows ?? 0) !== 1) {
    throw new StoreError('InvalidInput', `Session ${toSessionId} exists already.`, 'Fork into a new one.');
  }
  const writer = { sessionId: toSessionId, owner: 'fork' };
  const config = { forkedFrom: fromSessionId, atSeq };
  await insertFinishedRun({ trx, at, writer }, { runId, agent: 'fork', config });
}

async function copyItems({ trx, input }: Fork): Promise<void> {
  const { fromSessionId, toSessionId, atSeq, runId } = input;
  await sql`insert into transcript_items
    (session_id, seq, run_id, step, kind, origin, schema_version, item_json, readable, owner, superseded_by, created_at)
    select ${toSessionId}, seq, ${runId}, step, kind, origin, schema_version, item_json, readable, 'fork', null, created_at
      from transcript_items where session_id = ${fromSessionId} and superseded_by is null and seq <= ${atSeq}
      order by seq`.execute(trx);
}

async function copyCalls({ trx, input }: Fork, callIds: readonly string[]): Promise<void> {
  const { fromSessionId, toSessionId, runId } = input;
  for (const ids of chunked(callIds)) {
    await sql`insert into tool_calls
      (session_id, call_id, run_id, step, name, started_at, attempt, stored_json, result_json, output_units, completed_at)
      select ${toSessionId}, call_id, ${runId}, step, name, started_at, attempt, stored_json, result_json, output_units,
          completed_at
        from tool_calls where session_id = ${fromSessionId} and call_id in (${sql.join(ids)})`.execute(trx);
    await sql`insert into tool_outputs (session_id, call_id, chunk, text_json)
      select ${toSessionId}, call_id, chunk, text_json
        from tool_outputs where session_id = ${fromSessionId} and call_id in (${sql.join(ids)})`.execute(trx);
  }
}

/** Edits of the items that are copied, and checkpoints that replace none but those. */
async function copyView({ trx, input }: Fork): Promise<void> {
  const { fromSessionId, toSessionId, atSeq } = input;
  await sql`insert into view_edits (session_id, n, compaction_id, seq, edit_json, created_at)
    select ${toSessionId}, row_number() over (order by n) - 1, compaction_id, seq, edit_json, created_at
      from view_edits where session_id = ${fromSessionId} and seq <= ${atSeq}`.execute(trx);
  await sql`insert into session_compactions
    (session_id, compaction_id, n, trigger, reason, summary, first_kept_turn_id, first_kept_seq, protected_seqs_json,
      source_hash, tokens_before, tokens_after, provider_id, model, quality_json, metadata_json, created_at)
    select ${toSessionId}, compaction_id, row_number() over (order by n) - 1, trigger, reason, summary,
        first_kept_turn_id, first_kept_seq, protected_seqs_json, source_hash, tokens_before, tokens_after, provider_id,
        model, quality_json, metadata_json, created_at
      from session_compactions where session_id = ${fromSessionId} and first_kept_seq <= ${atSeq + 1}`.execute(trx);
  const view_revision = revisionText({
    compactionId: (await checkpointOf(trx, toSessionId, undefined))?.compactionId,
    edits: await countEdits(trx, toSessionId),
  });
  await trx.updateTable('sessions').set({ view_revision }).where('session_id', '=', toSessionId).execute();
}

async function countEdits(trx: Kysely<Schema>, sessionId: string): Promise<number> {
  const row = await trx
    .selectFrom('view_edits')
    .select((all) => all.fn.countAll<number>().as('count'))
    .where('session_id', '=', sessionId)
    .executeTakeFirst();
  return Number(row?.count ?? 0);
}

/** A session's facts have its id in theirs, so the copy's are facts of their own. */
async function copyFacts({ trx, input }: Fork): Promise<void> {
  const { fromSessionId, toSessionId, atSeq } = input;
  const rows = await trx
    .selectFrom('facts')
    .selectAll()
    .where('session_id', '=', fromSessionId)
    .where('scope', '=', 'session')
    .where((row) => row.or([row('source_seq', 'is', null), row('source_seq', '<=', atSeq)]))
    .execute();
  const copies = rows.map((row) => ({
    ...row,
    session_id: toSessionId,
    fact_id: factId({ ...toFactRow(row), sessionId: toSessionId }),
  }));
  for (const chunk of chunked(copies)) {
    await trx
      .insertInto('facts')
      .values(chunk)
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  }
}
