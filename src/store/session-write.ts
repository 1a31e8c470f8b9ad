import type { Kysely, Transaction } from 'kysely';
import { type Database, guarded } from './database.ts';
import { checkAttempt, claimSession } from './fence.ts';
import { prepared, type Value } from './prepared.ts';
import type { Schema } from './schema.ts';
import type { Writer } from './store.ts';

/** One write transaction of one session, past the fence. Its position counters are written back at the end. */
export interface SessionWrite {
  readonly trx: Transaction<Schema>;
  readonly database: Database;
  readonly writer: Writer;
  /** When this transaction writes, ISO 8601 UTC. */
  readonly at: string;
  readonly nowMs: number;
  lastSeq: number;
  /** Position of the batch that awaits its results. */
  openBatchSeq: number | null;
  /** First line of the session's first message; set once. */
  title: string;
  /** Of the session's view; kept by `setRevision`, as only compactions change it. */
  viewRevision: string;
  /** The session was another execution's until now. */
  readonly tookOver: boolean;
  changed: boolean;
  /** Runs whose readers have news. */
  readonly news: Set<string>;
}

export interface WriteRules {
  /** Makes the session row where it is missing (only opening a run does). */
  readonly create?: boolean;
  /** Whether a power cut may undo it (see `Database.relaxed`). Default false. */
  readonly relaxed?: boolean;
  /** The last position that the writer knows of. */
  readonly head?: number;
  /** Whether the attempt counts as begun, so that earlier ones are refused from now on. Default true. */
  readonly beginsAttempt?: boolean;
}

/**
 * Runs `work` in one transaction behind the fence.
 *
 * @throws StoreError `Fenced` when a later execution owns the session or a later attempt has begun; `StoreBehind` or `NotFound` when
 * there is no such session.
 */
export function writeSession<T>(
  database: Database,
  writer: Writer,
  work: (write: SessionWrite) => Promise<T>,
  rules: WriteRules = {},
): Promise<T> {
  const transact = async (trx: Transaction<Schema>): Promise<T> => {
    const nowMs = database.now();
    const at = new Date(nowMs).toISOString();
    const session = await claimSession(trx, writer, rules, at);
    await checkAttempt(trx, writer, rules.beginsAttempt ?? true);
    const write: SessionWrite = { trx, database, writer, at, nowMs, ...session, changed: false, news: new Set() };
    const result = await work(write);
    if (write.changed) await saveCounters(trx, write);
    for (const runId of write.news) await database.announce(trx, runId);
    return result;
  };
  return guarded(database, () =>
    rules.relaxed === true ? database.relaxed(transact) : database.writer.transaction().execute(transact),
  );
}

async function saveCounters(trx: Kysely<Schema>, write: SessionWrite): Promise<void> {
  const { lastSeq, openBatchSeq, title, at, writer } = write;
  await updateCounters(trx, { lastSeq, openBatchSeq, title, at, sessionId: writer.sessionId });
}

const updateCounters = prepared(
  (db, value: Value<{ lastSeq: number; openBatchSeq: number | null; title: string; at: string; sessionId: string }>) =>
    db
      .updateTable('sessions')
      .set({
        last_seq: value('lastSeq'),
        open_batch_seq: value('openBatchSeq'),
        title: value('title'),
        updated_at: value('at'),
      })
      .where('session_id', '=', value('sessionId')),
);
