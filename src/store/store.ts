import type { AgentEvent, RecordedEvent, RunStatus } from '../transcript/events.ts';
import type {
  AgentItem,
  ContentBlock,
  MediaRef,
  ToolResult,
  ToolResultStatus,
  TranscriptEntry,
} from '../transcript/items.ts';
import type { Json, JsonObject } from '../transcript/json.ts';
import type { Usage } from '../transcript/message.ts';
import type { ApprovalStore } from './approvals-port.ts';
import type { BudgetSettlement, BudgetStore } from './budget-port.ts';
import type { CompactionStore } from './compaction-port.ts';
import type { FactStore } from './facts-port.ts';
import type { ResetPoint, ResetStore } from './reset-port.ts';

/**
 * Who writes. Checked inside every write transaction, deltas too.
 *
 * The session's owner is the Temporal run id that claimed it; another execution takes over only when its
 * `scheduledAtMs` is later than the owner's claim. Once attempt n of an activity has begun, earlier attempts are
 * refused. A refused writer gets `StoreError('Fenced')`.
 */
export interface Writer {
  readonly sessionId: string;
  /** Temporal run id of the execution that scheduled the activity (a child passes its parent's). */
  readonly owner: string;
  /** `currentAttemptScheduledTimestampMs` of the activity. */
  readonly scheduledAtMs: number;
  readonly activityId: string;
  /** From 1. */
  readonly attempt: number;
}

/** What every write of an open run carries. */
export interface RunRef {
  readonly storeId: string;
  readonly runId: string;
  /** The last seq that the workflow knows; the store must not be behind it. */
  readonly head: number;
  /** Set in an execution that came of a reset. */
  readonly reset?: ResetPoint;
}

/** A message that was accepted for a session. */
export interface AcceptedMessage {
  readonly messageId: string;
  readonly mode: 'steer' | 'follow_up';
  readonly content: readonly ContentBlock[];
}

export interface OpenRun {
  /** Absent on a plain start: the store then tells its own. */
  readonly storeId?: string;
  readonly runId: string;
  /** Absent for a run that only compacts: it has no message and no user item. */
  readonly message?: AcceptedMessage;
  readonly agent: string;
  /** `provider/model`. */
  readonly model: string;
  /** Frozen settings of the run (limits, tools, prompt), for `show` and for rebuilding requests. */
  readonly config: JsonObject;
  /**
   * All messages waiting behind this one, for their `user_message_queued` events. A message of the session that the
   * store knows as waiting and that is neither `message` nor among these was lost with its run, and ends in `run_failed`.
   */
  readonly queued: readonly AcceptedMessage[];
  /** The execution came of a reset: a run that answered the message before is superseded as a whole. */
  readonly reset?: true;
}

/** How an accepted message ended; kept for ever, so that asking again costs nothing. */
export interface MessageOutcome {
  readonly messageId: string;
  readonly runId: string;
  readonly event: Extract<AgentEvent, { type: 'final_response' | 'loop_aborted' | 'run_failed' }>;
}

export type OpenedRun =
  | { readonly status: 'open'; readonly storeId: string; readonly head: number }
  /** The run was closed before (a late retry, a replayed message): nothing was written. */
  | { readonly status: 'closed'; readonly storeId: string; readonly head: number; readonly runStatus: RunStatus }
  /** The message ended in an earlier run: nothing was written. */
  | { readonly status: 'ended'; readonly storeId: string; readonly head: number; readonly outcome: MessageOutcome };

/**
 * How calls that left no result in the store ended, by call id. Calls not named here are `aborted`, or
 * `unknown_outcome` when the store saw them begin; a call that it saw begin is never `aborted`, but `cancelled`.
 */
export type Settlement = Readonly<
  Record<string, { readonly status: Exclude<ToolResultStatus, 'ok'>; readonly message?: string }>
>;

export interface BeginStep {
  readonly ref: RunRef;
  readonly step: number;
  /** Closes the batch of the previous step, if it has one: its results in call order, missing ones by `settlement`. */
  readonly settlement: Settlement;
  /** Messages that join before this step, in order. */
  readonly append: readonly AgentItem[];
  /** Ids of the messages among `append` that were accepted from outside (they get their outcome from this run). */
  readonly joined: readonly string[];
  /** Calls whose late result an item of `append` tells the model. */
  readonly toldLate?: readonly string[];
  /** Calls of a superseded branch that the last item of `append` tells the model of. */
  readonly toldBranch?: readonly string[];
  /**
   * Written with the settlement and `append` when an activity begins the step. A later attempt of the same activity
   * writes only its `model_attempt_restarted`; another activity (after a compaction) writes all of its own.
   */
  readonly events: readonly AgentEvent[];
}

export type BegunStep =
  | { readonly status: 'begun'; readonly head: number; readonly revision: string }
  /** A response is already committed for this step: do not call the model again. */
  | { readonly status: 'committed'; readonly head: number; readonly outcome: Json }
  | { readonly status: 'closed'; readonly head: number; readonly runStatus: RunStatus };

export interface CommitStep {
  readonly ref: RunRef;
  readonly step: number;
  /** Items of the response, call ids minted. */
  readonly items: readonly AgentItem[];
  readonly events: readonly AgentEvent[];
  readonly usage: Usage | null;
  readonly costUsd: number | null;
  /** `provider/model` that answered. */
  readonly model: string;
  /** Enough to rebuild the request byte for byte. */
  readonly request: JsonObject;
  /** What the workflow is told; returned as stored on every later ask. */
  readonly outcome: Json;
  /** What the response taught about estimates of its model; kept by `provider/model`. */
  readonly calibration?: { readonly model: string; readonly factor: number };
  /** Ends the call's reservation; absent when none was made. */
  readonly budget?: BudgetSettlement;
}

export type CommittedStep =
  | { readonly status: 'committed'; readonly head: number; readonly outcome: Json }
  | { readonly status: 'closed'; readonly head: number; readonly runStatus: RunStatus };

/** What a tool does to the world, as the ledger needs it. */
export type EffectClass = 'read_only' | 'idempotent' | 'at_most_once';

export interface BeginCall {
  readonly ref: RunRef;
  readonly step: number;
  readonly callId: string;
  readonly name: string;
  readonly effect: EffectClass;
  /** How long the lease of an at-most-once call holds without a heartbeat. */
  readonly leaseMs: number;
  readonly event: AgentEvent;
  /** The answer of people to a call that asked them: written before `event`, once. */
  readonly decision?: Extract<AgentEvent, { type: 'approval_resolved' }>;
  /** Takes a lost call over, which is known not to have been done: it may run once more. */
  readonly takeOver?: true;
}

export type BegunCall =
  | { readonly status: 'run' }
  | { readonly status: 'done'; readonly result: StoredResult }
  /** Another attempt holds a fresh lease (at-most-once only). */
  | { readonly status: 'leased'; readonly untilMs: number }
  /** An earlier attempt began and its lease ran out without a result (at-most-once only). */
  | { readonly status: 'lost' }
  | { readonly status: 'closed'; readonly runStatus: RunStatus };

export interface CommitCall {
  readonly ref: RunRef;
  readonly step: number;
  readonly callId: string;
  readonly name: string;
  readonly result: ToolResult;
  /** The whole output as text, when `result.content` is a cut of it. */
  readonly fullOutput?: string;
  /** In order; the started event too, when the call was too quick to announce by itself. */
  readonly events: readonly AgentEvent[];
}

/** The result of a call as the workflow and people see it. */
export interface StoredResult {
  readonly callId: string;
  readonly status: ToolResultStatus;
  /** At most 200 characters. */
  readonly preview: string;
  readonly bytes: number;
}

/** A result that came after its call was given up. */
export interface LateResult {
  readonly callId: string;
  readonly name: string;
  readonly result: ToolResult;
}

export interface SettleBatch {
  readonly ref: RunRef;
  readonly step: number;
  readonly settlement: Settlement;
}

export interface CloseRun {
  readonly ref: RunRef;
  readonly status: Exclude<RunStatus, 'running' | 'waiting' | 'abandoned'>;
  /** Events before the final one. */
  readonly events: readonly AgentEvent[];
  /** The terminal event; `answers` names the messages that it ends, and totals are filled in by the store. */
  readonly final:
    | {
        readonly type: 'final_response';
        readonly text: string;
        readonly answers: readonly string[];
        readonly truncated?: true;
      }
    | { readonly type: 'loop_aborted'; readonly reason: string; readonly answers: readonly string[] }
    | {
        readonly type: 'run_failed';
        readonly error: string;
        readonly message: string;
        readonly hint: string;
        readonly answers: readonly string[];
      };
  /** Messages that were accepted but never joined a run and end with this one (queue of a cancelled chain). */
  readonly dropped: readonly string[];
}

export interface ClosedRun {
  readonly head: number;
  readonly status: RunStatus;
  /** The terminal event as stored. */
  readonly final: MessageOutcome['event'];
}

export interface Delta {
  readonly kind: 'text' | 'reasoning';
  readonly text: string;
}

export interface AppendDeltas {
  readonly ref: RunRef;
  readonly step: number;
  /** Attempt of the model call; a later attempt makes the earlier one's deltas void. */
  readonly attempt: number;
  /** Number of the first delta, from 0 within the attempt. */
  readonly from: number;
  readonly deltas: readonly Delta[];
}

/** A share of a limit per minute. */
export interface RateLimit {
  readonly bucket: string;
  readonly perMinute: number;
  readonly amount: number;
}

export interface ImportSession {
  readonly sessionId: string;
  readonly runId: string;
  /** Valid and closed (see `validate`), call ids unique. */
  readonly items: readonly AgentItem[];
}

export interface SessionPage {
  readonly limit: number;
  readonly before?: string;
  readonly under?: string;
  readonly top?: true;
}

export interface SessionRow {
  readonly sessionId: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  /** First line of the first user message, at most 200 characters. */
  readonly title: string;
  readonly runs: number;
  readonly lastStatus: RunStatus | null;
  readonly lastRunId: string | null;
  readonly lastSeq: number;
}

export interface RunRow {
  readonly runId: string;
  readonly sessionId: string;
  readonly status: RunStatus;
  readonly agent: string;
  readonly model: string;
  readonly startedAt: string;
  readonly completedAt: string | null;
  readonly steps: number;
  readonly usage: Usage;
  /** `null` when some step's price is unknown. */
  readonly costUsd: number | null;
  /** Temporal run id that owns it. */
  readonly owner: string;
  readonly messageIds: readonly string[];
  readonly config: JsonObject;
}

/** A model call as it was made. */
export interface RequestRow {
  readonly runId: string;
  readonly step: number;
  readonly model: string | null;
  readonly request: JsonObject | null;
  readonly usage: Usage | null;
  readonly costUsd: number | null;
  readonly outcome: Json;
  /** Last seq that the request could see. */
  readonly headAtBegin: number;
}

export interface StoreIdentity {
  readonly storeId: string;
  readonly schemaVersion: number;
  /** UUID of the Temporal namespace the store is bound to, once it is. */
  readonly namespaceId: string | null;
  /** File or URL, without credentials. */
  readonly location: string;
}

/** Deltas after the reader's cursor. `attempt` is the newest; when it grew, the reader drops what it showed of that step. */
export interface DeltaPage {
  readonly step: number;
  readonly attempt: number;
  readonly next: number;
  readonly deltas: readonly Delta[];
}

/**
 * Transcripts, events, ledger, usage. One query code base for SQLite and PostgreSQL.
 *
 * Writes are one transaction each, first-writer-wins, and return what is stored: callers follow that, not what they
 * asked for. A closed run accepts no write and tells its status. Rejections are {@link StoreError}s; anything else is a
 * bug of the store.
 */
export interface Store extends CompactionStore, FactStore, ApprovalStore, BudgetStore, ResetStore {
  identity(): Promise<StoreIdentity>;
  /** Binds an unbound store. Rejects with `StoreMismatch` when it belongs to another namespace. */
  bindNamespace(namespaceId: string): Promise<void>;

  /** Claims the session, heals its earlier open runs (batch marked, `abandoned`, `run_failed`), writes run, message and `run_started`. Idempotent on `runId`. Without a message, rejects with `NotFound` when the session is not there. */
  openRun(writer: Writer, input: OpenRun): Promise<OpenedRun>;
  beginStep(writer: Writer, input: BeginStep): Promise<BegunStep>;
  /** Idempotent on (run, step): only a model response commits under it. Drops the step's deltas. */
  commitStep(writer: Writer, input: CommitStep): Promise<CommittedStep>;
  appendDeltas(writer: Writer, input: AppendDeltas): Promise<void>;
  beginCall(writer: Writer, input: BeginCall): Promise<BegunCall>;
  /** Extends the lease of an at-most-once call. */
  renewLease(writer: Writer, callId: string, leaseMs: number): Promise<void>;
  /** Idempotent on the call. Never touches `transcript_items`. A late result stays in the ledger, even of a refused writer. */
  commitCall(writer: Writer, input: CommitCall): Promise<StoredResult>;
  /** When a run ends early: writes the result batch of `step`, if it is open. Idempotent. Returns the head. */
  settleBatch(writer: Writer, input: SettleBatch): Promise<{ readonly head: number }>;
  closeRun(writer: Writer, input: CloseRun): Promise<ClosedRun>;

  /** Writes a valid transcript as a new session, under a run of its own. Rejects when the session exists. */
  importSession(input: ImportSession): Promise<{ readonly head: number }>;

  /** Takes from token buckets that all workers of the store share: all of them (`waitMs` 0), or none and how long to wait. */
  takeRate(limits: readonly RateLimit[]): Promise<{ readonly waitMs: number }>;

  putBlob(bytes: Uint8Array, mediaType: string, name?: string): Promise<MediaRef>;
  blob(sha256: string): Promise<Uint8Array | undefined>;

  session(sessionId: string): Promise<SessionRow | undefined>;
  /**
   * Latest change first. `before` is the `updatedAt` of the last row of the page before, and after a space its
   * `sessionId`, which makes it exact among equal times. `under`: only subagents' sessions below that one, at any depth.
   * `top`: no subagents' sessions.
   */
  sessions(page: SessionPage): Promise<readonly SessionRow[]>;
  run(runId: string): Promise<RunRow | undefined>;
  /** Oldest first. */
  runs(sessionId: string): Promise<readonly RunRow[]>;
  /** Live items in order, `seq > afterSeq`, at most `limit`. */
  entries(
    sessionId: string,
    page?: { readonly afterSeq?: number; readonly limit?: number },
  ): Promise<readonly TranscriptEntry[]>;
  /** Indexed events from `from` on (inclusive). */
  events(runId: string, page?: { readonly from?: number; readonly limit?: number }): Promise<readonly RecordedEvent[]>;
  /** Deltas of the run's uncommitted step after the cursor. */
  deltas(
    runId: string,
    cursor?: { readonly step: number; readonly attempt: number; readonly next: number },
  ): Promise<DeltaPage | undefined>;
  outcome(sessionId: string, messageId: string): Promise<MessageOutcome | undefined>;
  /** Run that took the message in, when one has. */
  runOfMessage(sessionId: string, messageId: string): Promise<string | undefined>;
  request(runId: string, step: number): Promise<RequestRow | undefined>;
  requests(runId: string): Promise<readonly RequestRow[]>;
  callResult(runId: string, callId: string): Promise<StoredResult | undefined>;
  /** What a call that was given up came back with after all, as far as it was not read-only. */
  lateResult(sessionId: string, callId: string): Promise<ToolResult | undefined>;
  /** Late results of the session's calls that the model has not been told. */
  lateResults(sessionId: string): Promise<readonly LateResult[]>;
  /** Whether a call of the run that is not read-only began in `fromStep` or later. */
  hasActed(runId: string, fromStep: number): Promise<boolean>;
  /** A range of characters of a call's whole output, in UTF-16 units. */
  toolOutput(
    sessionId: string,
    callId: string,
    range: { readonly start: number; readonly end: number },
  ): Promise<{ readonly text: string; readonly total: number } | undefined>;

  /**
   * Calls `listener` when the run may have new events or deltas, whichever process wrote them; it may be called for
   * nothing. Returns how to stop. Notices can be lost (a dropped connection): poll once a second beside it.
   */
  onChange(runId: string, listener: () => void): () => void;

  /** Cheap check that reads and writes work: for `doctor`. */
  check(): Promise<void>;
  close(): Promise<void>;
}
