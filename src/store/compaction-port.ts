import type { AgentEvent, CompactionTrigger, RunStatus } from '../transcript/events.ts';
import type { TranscriptEntry } from '../transcript/items.ts';
import type { Json } from '../transcript/json.ts';
import type { Usage } from '../transcript/message.ts';
import type { ViewCheckpoint } from '../transcript/view.ts';
import type { ViewEdit } from '../transcript/view-edits.ts';
import type { BudgetSettlement } from './budget-port.ts';
import type { NewFact } from './facts-port.ts';
import type { RunRef, Writer } from './store.ts';

/** What a model call outside the steps used; counts towards the run's totals. */
export interface SideUsage {
  /** `provider/model`. */
  readonly model: string;
  readonly usage: Usage | null;
  readonly costUsd: number | null;
}

/** The outcome of one phase of a compaction, with everything that belongs to it, in one transaction. */
export interface CommitPhase {
  readonly ref: RunRef;
  readonly step: number;
  readonly compactionId: string;
  /** `plan`, `flush`, `summary`, `summary/3` (a piece of a long one), `result`. */
  readonly phase: string;
  /** Returned as stored on every later ask. */
  readonly output: Json;
  readonly events: readonly AgentEvent[];
  /** Edits that the phase adds to the session's view. */
  readonly edits?: readonly ViewEdit[];
  /** Revision of the view that `edits` were made for; when it is another by now nothing is written (`stale`). */
  readonly revision?: string;
  /** Written once each, by their id. */
  readonly facts?: readonly NewFact[];
  readonly usage?: readonly SideUsage[];
  /** Ends the reservation of the call that `usage` tells of; absent when none was made. */
  readonly budget?: BudgetSettlement;
}

export type CommittedPhase =
  | { readonly status: 'committed'; readonly output: Json; readonly revision: string }
  | { readonly status: 'stale'; readonly revision: string }
  | { readonly status: 'closed'; readonly runStatus: RunStatus };

/** A phase that was committed before, whoever did it. */
export interface PhaseRow {
  readonly compactionId: string;
  readonly phase: string;
  readonly runId: string;
  readonly output: Json;
  readonly usage: readonly SideUsage[];
  /** ISO 8601 UTC. */
  readonly createdAt: string;
}

/** A compaction that replaced a prefix of its session's view: one that is never shorter than an earlier one's. */
export interface Checkpoint extends ViewCheckpoint {
  readonly trigger: CompactionTrigger;
  readonly reason: string;
  /** `Store.sourceHash` of what is replaced, when the plan was made. */
  readonly sourceHash: string;
  /** Estimated tokens of the request before and after. */
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  /** Who wrote the summary; empty when no model did. */
  readonly providerId: string;
  readonly model: string;
  readonly quality: Json;
  readonly metadata: Json;
}

export interface CommitCheckpoint extends Checkpoint {
  readonly ref: RunRef;
  readonly step: number;
  /** First and last position of what is replaced, both inclusive: their hash now is compared with `sourceHash`. */
  readonly fromSeq: number;
  readonly toSeq: number;
  /** Revision of the view that the plan left; another one, or another hash, makes it `stale`. */
  readonly revision: string;
  /** Written as phase `result`. */
  readonly output: Json;
  readonly events: readonly AgentEvent[];
}

/** A committed compaction, as `session_compactions` has it. */
export interface CheckpointRow extends Checkpoint {
  readonly sessionId: string;
  /** The turn that the first kept item belongs to: `seq` of its user message (`conversation_turns.turn_id`). */
  readonly firstKeptTurnId: number | null;
  /** ISO 8601 UTC. */
  readonly createdAt: string;
}

/** An entry that holds all words of a query. */
export interface TranscriptHit {
  readonly seq: number;
  readonly kind: string;
  /** Text around the first match, at most 300 characters. */
  readonly excerpt: string;
  /** Call whose output it is, where it is one. */
  readonly callId?: string;
}

export interface ForkSession {
  readonly fromSessionId: string;
  readonly toSessionId: string;
  /** Items up to here (inclusive) are copied; must end a group. */
  readonly atSeq: number;
  /** The run under which the copy stands. */
  readonly runId: string;
}

/**
 * What compaction needs of a store.
 *
 * The revision of a session's view is `<id of the latest checkpoint, or "start">/<number of edits>`; it is kept with the
 * session, handed out when a step begins, and changes only in {@link commitPhase} with edits and {@link commitCheckpoint};
 * a reset takes the latest of them back.
 */
export interface CompactionStore {
  /** First-writer-wins on (compaction, phase). */
  commitPhase(writer: Writer, input: CommitPhase): Promise<CommittedPhase>;
  /** Compare-and-set on the revision and on what is replaced. First-writer-wins on the phase `result`. */
  commitCheckpoint(writer: Writer, input: CommitCheckpoint): Promise<CommittedPhase>;
  /** Phases of one compaction, in the order in which they were committed. */
  phases(compactionId: string): Promise<readonly PhaseRow[]>;
  /** Ends of all compactions of a session (phase `result`), oldest first. */
  compactionResults(sessionId: string): Promise<readonly PhaseRow[]>;
  /** The latest checkpoint of the session, or the one named. */
  checkpoint(sessionId: string, compactionId?: string): Promise<CheckpointRow | undefined>;
  /** Oldest first. */
  checkpoints(sessionId: string): Promise<readonly CheckpointRow[]>;
  /** The session's revision now. */
  viewRevision(sessionId: string): Promise<string>;
  /**
   * The first `count` edits of a session, in the order in which they were committed; all without `count`. With `about`
   * only those of items from `fromSeq` on and of the items `seqs`: a view needs no others.
   */
  viewEdits(
    sessionId: string,
    count?: number,
    about?: { readonly fromSeq: number; readonly seqs: readonly number[] },
  ): Promise<readonly ViewEdit[]>;
  /** Live entries at these positions, in order. */
  entriesAt(sessionId: string, seqs: readonly number[]): Promise<readonly TranscriptEntry[]>;
  /** SHA-256 over position and content of the live items `fromSeq` to `toSeq`, both inclusive. */
  sourceHash(sessionId: string, fromSeq: number, toSeq: number): Promise<string>;
  /**
   * Entries that hold all words of the query, newest first, case folded; at most `limit`. Each result of a batch counts by
   * itself, with its whole output, and those of one batch stand in their order. Words are what white space divides.
   */
  searchTranscript(
    sessionId: string,
    query: string,
    page: { readonly limit: number; readonly beforeSeq?: number },
  ): Promise<readonly TranscriptHit[]>;
  /** Copies a prefix of a session, with outputs, edits, checkpoints and facts that belong to it, as a new session. */
  forkSession(input: ForkSession): Promise<{ readonly head: number }>;
  /** Factor of actual to estimated tokens of a model (`provider/model`), where one was learnt. */
  calibration(model: string): Promise<number | undefined>;
}
