import type { Kysely } from 'kysely';
import { grantsOf, openApprovals } from './approval-rows.ts';
import { beginCall } from './begin-call.ts';
import { beginStep } from './begin-step.ts';
import { blob, putBlob } from './blobs.ts';
import { budgetsOf, reserveBudget } from './budgets.ts';
import { calibrationOf } from './calibration.ts';
import { closeRun, settleBatch } from './close-run.ts';
import { commitCall } from './commit-call.ts';
import { commitCheckpoint } from './commit-checkpoint.ts';
import { commitPhase } from './commit-phase.ts';
import { commitStep } from './commit-step.ts';
import { type Database, guarded, timestamp } from './database.ts';
import { appendDeltas, readDeltas } from './deltas.ts';
import { forkSession } from './fork-session.ts';
import { bindNamespace, readIdentity, touch } from './identity.ts';
import { importSession } from './import-session.ts';
import { openRun } from './open-run.ts';
import { phasesOf, resultsOf } from './phase-rows.ts';
import { putFacts } from './put-facts.ts';
import { takeRate } from './rate-buckets.ts';
import { branchEffects } from './read-branch.ts';
import { callResult, hasActed, lateResult, lateResults } from './read-calls.ts';
import { checkpointOf, checkpointsOf, revisionOf } from './read-checkpoints.ts';
import { factsOf } from './read-facts.ts';
import { messageOutcome, runOfMessage } from './read-messages.ts';
import { requestsOf, runRow, runsOf } from './read-runs.ts';
import { sessionById, sessionPage } from './read-sessions.ts';
import { entriesAt, entriesOf, eventsOf } from './read-transcript.ts';
import { renewLease } from './renew-lease.ts';
import type { RunWrite } from './run-write.ts';
import type { Schema } from './schema.ts';
import { searchTranscript } from './search-transcript.ts';
import { setFactStatus } from './set-fact-status.ts';
import { sourceHashOf } from './source-hash.ts';
import type { RunRef, Store, Writer } from './store.ts';
import { readOutput } from './tool-output.ts';
import { editsOf } from './view-edit-rows.ts';

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

    commitPhase: (writer, input) => commitPhase(target(writer, input.ref), input),
    commitCheckpoint: (writer, input) => commitCheckpoint(target(writer, input.ref), input),
    phases: (compactionId) => read((db) => phasesOf(db, compactionId)),
    compactionResults: (sessionId) => read((db) => resultsOf(db, sessionId)),
    checkpoint: (sessionId, compactionId) => read((db) => checkpointOf(db, sessionId, compactionId)),
    checkpoints: (sessionId) => read((db) => checkpointsOf(db, sessionId)),
    viewRevision: (sessionId) => read((db) => revisionOf(db, sessionId)),
    viewEdits: (sessionId, count, about) => read((db) => editsOf(db, sessionId, count, about)),
    entriesAt: (sessionId, seqs) => read((db) => entriesAt(db, sessionId, seqs)),
    sourceHash: (sessionId, fromSeq, toSeq) => read((db) => sourceHashOf(db, sessionId, fromSeq, toSeq)),
    searchTranscript: (sessionId, query, page) =>
      read((db) => searchTranscript(db, database.kind, sessionId, query, page)),
    forkSession: (input) => forkSession(database, input),
    calibration: (model) => read((db) => calibrationOf(db, model)),

    putFacts: (sessionId, facts) => putFacts(database, sessionId, facts),
    facts: (query) => read((db) => factsOf(db, query)),
    setFactStatus: (factId, status) => setFactStatus(database, factId, status),

    openApprovals: (sessionId) => read((db) => openApprovals(db, sessionId)),
    grants: (sessionId) => read((db) => grantsOf(db, sessionId)),

    reserveBudget: (writer, input) => reserveBudget(target(writer, input.ref), input),
    budgets: (runId) => read((db) => budgetsOf(db, runId)),

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
    lateResults: (sessionId) => read((db) => lateResults(db, sessionId)),
    branchEffects: (sessionId, at) => read((db) => branchEffects(db, sessionId, at)),
    hasActed: (runId, fromStep) => read((db) => hasActed(db, runId, fromStep)),
    toolOutput: (sessionId, callId, range) => read((db) => readOutput(db, sessionId, callId, range)),

    onChange: (runId, listener) =>
      database.watch((changed) => {
        if (changed === undefined || changed === runId) listener();
      }),

    check: () => touch(database, timestamp(database)),
    close: () => database.close(),
  };
}
