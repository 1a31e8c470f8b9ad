import type { Kysely } from 'kysely';
import { beginCall } from './begin-call.ts';
import { beginStep } from './begin-step.ts';
import { blob, putBlob } from './blobs.ts';
import { closeRun, settleBatch } from './close-run.ts';
import { commitCall } from './commit-call.ts';
import { commitStep } from './commit-step.ts';
import { type Database, guarded, timestamp } from './database.ts';
import { appendDeltas, readDeltas } from './deltas.ts';
import { bindNamespace, readIdentity, touch } from './identity.ts';
import { importSession } from './import-session.ts';
import { openRun } from './open-run.ts';
import { takeRate } from './rate-buckets.ts';
import { callResult, lateResult } from './read-calls.ts';
import { messageOutcome, runOfMessage } from './read-messages.ts';
import { requestsOf, runRow, runsOf } from './read-runs.ts';
import { sessionById, sessionPage } from './read-sessions.ts';
import { entriesOf, eventsOf } from './read-transcript.ts';
import { renewLease } from './renew-lease.ts';
import type { RunWrite } from './run-write.ts';
import type { Schema } from './schema.ts';
import type { RunRef, Store, Writer } from './store.ts';
import { readOutput } from './tool-output.ts';

/** The port over a migrated database whose id is `storeId`. */
export function createStore(database: Database, storeId: string): Store {
  const read = <T>(query: (db: Kysely<Schema>) => Promise<T>): Promise<T> =>
    guarded(database, () => query(database.reader));
  const target = (writer: Writer, ref: RunRef): RunWrite => ({ database, storeId, writer, ref });
  return {
    identity: () => readIdentity(database),
    bindNamespace: (namespaceId) => bindNamespace(database, namespaceId),

    openRun: (writer, input) => openRun(database, storeId, writer, input),
    beginStep: (writer, input) => beginStep(target(writer, input.ref), input),
    commitStep: (writer, input) => commitStep(target(writer, input.ref), input),
    appendDeltas: (writer, input) => appendDeltas(target(writer, input.ref), input),
    beginCall: (writer, input) => beginCall(target(writer, input.ref), input),
    renewLease: (writer, callId, leaseMs) => renewLease(database, writer, callId, leaseMs),
    commitCall: (writer, input) => commitCall(target(writer, input.ref), input),
    settleBatch: (writer, input) => settleBatch(target(writer, input.ref), input),
    closeRun: (writer, input) => closeRun(target(writer, input.ref), input),

    importSession: (input) => importSession(database, input),
    takeRate: (limits) => takeRate(database, limits),
    putBlob: (bytes, mediaType, name) => putBlob(database, bytes, mediaType, name),
    blob: (sha256) => blob(database, sha256),

    session: (sessionId) => read((db) => sessionById(db, sessionId)),
    sessions: (page) => read((db) => sessionPage(db, page)),
    run: (runId) => read((db) => runRow(db, runId)),
    runs: (sessionId) => read((db) => runsOf(db, sessionId)),
    entries: (sessionId, page) => read((db) => entriesOf(db, sessionId, page ?? {})),
    events: (runId, page) => read((db) => eventsOf(db, runId, page ?? {})),
    deltas: (runId, cursor) => readDeltas(database, runId, cursor),
    outcome: (sessionId, messageId) => read((db) => messageOutcome(db, sessionId, messageId)),
    runOfMessage: (sessionId, messageId) => read((db) => runOfMessage(db, sessionId, messageId)),
    request: async (runId, step) => (await read((db) => requestsOf(db, runId, step)))[0],
    requests: (runId) => read((db) => requestsOf(db, runId, undefined)),
    callResult: (runId, callId) => read((db) => callResult(db, runId, callId)),
    lateResult: (sessionId, callId) => read((db) => lateResult(db, sessionId, callId)),
    toolOutput: (sessionId, callId, range) => read((db) => readOutput(db, sessionId, callId, range)),

    onChange: (runId, listener) =>
      database.watch((changed) => {
        if (changed === undefined || changed === runId) listener();
      }),

    check: () => touch(database, timestamp(database)),
    close: () => database.close(),
  };
}
