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
import { openRun } from './open-run.ts';
import { messageOutcome, runOfMessage } from './read-messages.ts';
import { callResult, requestsOf, runRow, runsOf } from './read-runs.ts';
import { sessionById, sessionPage } from './read-sessions.ts';
import { entriesOf, eventsOf } from './read-transcript.ts';
import { renewLease } from './renew-lease.ts';
import type { Schema } from './schema.ts';
import type { Store } from './store.ts';
import { readOutput } from './tool-output.ts';

/** The port over a migrated database whose id is `storeId`. */
export function createStore(database: Database, storeId: string): Store {
  const read = <T>(query: (db: Kysely<Schema>) => Promise<T>): Promise<T> =>
    guarded(database, () => query(database.reader));
  return {
    identity: () => readIdentity(database),
    bindNamespace: (namespaceId) => bindNamespace(database, namespaceId),

    openRun: (writer, input) => openRun(database, storeId, writer, input),
    beginStep: (writer, input) => beginStep(database, storeId, writer, input),
    commitStep: (writer, input) => commitStep(database, storeId, writer, input),
    appendDeltas: (writer, input) => appendDeltas(database, storeId, writer, input),
    beginCall: (writer, input) => beginCall(database, storeId, writer, input),
    renewLease: (writer, callId, leaseMs) => renewLease(database, writer, callId, leaseMs),
    commitCall: (writer, input) => commitCall(database, storeId, writer, input),
    settleBatch: (writer, input) => settleBatch(database, storeId, writer, input),
    closeRun: (writer, input) => closeRun(database, storeId, writer, input),

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
    toolOutput: (sessionId, callId, range) => read((db) => readOutput(db, sessionId, callId, range)),

    check: () => touch(database, timestamp(database)),
    close: () => database.close(),
  };
}
