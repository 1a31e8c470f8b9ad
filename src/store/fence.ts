import type { Kysely } from 'kysely';
import type { StoreError } from './errors.ts';
import { prepared, type Value } from './prepared.ts';
import { fenced, notFound, storeBehind } from './refusals.ts';
import type { Schema } from './schema.ts';
import type { WriteRules } from './session-write.ts';
import type { Writer } from './store.ts';
import { FIRST_REVISION } from './view-revision.ts';

export interface ClaimedSession {
  readonly lastSeq: number;
  readonly openBatchSeq: number | null;
  readonly title: string;
  readonly viewRevision: string;
  /** The session was another execution's until now. */
  readonly tookOver: boolean;
}

/**
 * Locks the session's row and makes sure that the writer owns it: the owner's own writes pass, and another execution
 * takes over only if its attempt was scheduled later than the owner's claim.
 *
 * @throws StoreError `Fenced`; `StoreBehind` or `NotFound` when there is no such session and none is to be made.
 */
export async function claimSession(
  trx: Kysely<Schema>,
  writer: Writer,
  rules: WriteRules,
  at: string,
): Promise<ClaimedSession> {
  let [row] = (await sessionRow(trx, writer)).rows;
  if (row === undefined) {
    if (rules.create === true) await createSession(trx, writer, at);
    [row] = (await sessionRow(trx, writer)).rows;
  }
  if (row === undefined) throw missing(writer.sessionId, rules.head ?? 0);
  if (row.owner !== writer.owner) {
    if (writer.scheduledAtMs <= row.claimed_at_ms) {
      throw fenced(`Session ${writer.sessionId} belongs to the later execution ${row.owner}.`);
    }
    await takeOver(trx, writer);
  }
  const { last_seq: lastSeq, open_batch_seq: openBatchSeq, title, view_revision: viewRevision } = row;
  return { lastSeq, openBatchSeq, title, viewRevision, tookOver: row.owner !== writer.owner };
}

/**
 * Refuses a writer when a later attempt of its activity has begun. First attempts leave no row, so that the usual
 * step pays nothing.
 */
export async function checkAttempt(trx: Kysely<Schema>, writer: Writer, begins: boolean): Promise<void> {
  const [row] = (await latestAttempt(trx, writer)).rows;
  const latest = row?.attempt ?? 1;
  if (latest > writer.attempt) {
    throw fenced(`Attempt ${latest} of activity ${writer.activityId} has begun; attempt ${writer.attempt} is late.`);
  }
  if (begins && writer.attempt > latest) await recordAttempt(trx, writer);
}

/** From now on earlier attempts of the writer's activity are refused. */
export async function recordAttempt(trx: Kysely<Schema>, writer: Writer): Promise<void> {
  const { owner, activityId, attempt } = writer;
  await trx
    .insertInto('activity_attempts')
    .values({ owner, activity_id: activityId, attempt })
    .onConflict((conflict) => conflict.columns(['owner', 'activity_id']).doUpdateSet({ attempt }))
    .execute();
}

function missing(sessionId: string, head: number): StoreError {
  return head > 0 ? storeBehind(sessionId, 0, head) : notFound(`There is no session ${sessionId} in this store.`);
}

/** Locks the row in PostgreSQL, so that the session's writers stand in line; SQLite has one writer anyway. */
const sessionRow = prepared((db, value: Value<{ sessionId: string }>, kind) =>
  db
    .selectFrom('sessions')
    .select(['owner', 'claimed_at_ms', 'last_seq', 'open_batch_seq', 'title', 'view_revision'])
    .where('session_id', '=', value('sessionId'))
    .$if(kind === 'postgres', (query) => query.forUpdate()),
);

const latestAttempt = prepared((db, value: Value<{ owner: string; activityId: string }>) =>
  db
    .selectFrom('activity_attempts')
    .select('attempt')
    .where('owner', '=', value('owner'))
    .where('activity_id', '=', value('activityId')),
);

async function createSession(trx: Kysely<Schema>, writer: Writer, at: string): Promise<void> {
  await trx
    .insertInto('sessions')
    .values({
      session_id: writer.sessionId,
      title: '',
      created_at: at,
      updated_at: at,
      owner: writer.owner,
      claimed_at_ms: writer.scheduledAtMs,
      last_seq: 0,
      open_batch_seq: null,
      view_revision: FIRST_REVISION,
    })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

async function takeOver(trx: Kysely<Schema>, writer: Writer): Promise<void> {
  await trx
    .updateTable('sessions')
    .set({ owner: writer.owner, claimed_at_ms: writer.scheduledAtMs })
    .where('session_id', '=', writer.sessionId)
    .execute();
}
