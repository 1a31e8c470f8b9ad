import type { CompactionTrigger, RunStatus } from '../transcript/events.ts';
import type { ToolResultStatus } from '../transcript/items.ts';
import type { Usage } from '../transcript/message.ts';
import type { CompactionEnd } from './compact-session.ts';
import type { HoldfastErrorCode } from './errors.ts';
import type { ApprovalResolution, BudgetExtension, CompactRequest, SendMessage } from './messages.ts';

/** What every activity of an open run carries. */
export interface ActivityRef {
  readonly sessionId: string;
  readonly runId: string;
  readonly storeId: string;
  /** The last seq that the workflow knows. */
  readonly head: number;
  /** The execution came of a reset: what others committed from here on is superseded. */
  readonly reset?: true;
}

/** Limits that the workflow itself counts: frozen when the run opens. */
export interface RunLimits {
  /** Steps with tool calls a user message may take. */
  readonly maxToolTurns: number;
  readonly maxParallelTools: number;
  /** Whether a used-up budget waits for somebody to extend it; absent: the run ends. */
  readonly onBudget?: 'ask';
}

/** The run at the top of a tree of subagents, whose budgets they share. */
export interface RootRun {
  readonly runId: string;
  readonly sessionId: string;
}

export interface OpenRunInput {
  readonly sessionId: string;
  readonly runId: string;
  readonly storeId?: string;
  /** Absent for a run that only compacts. */
  readonly message?: SendMessage;
  readonly queued: readonly SendMessage[];
  /** Set for a subagent. */
  readonly root?: RootRun;
  /** See {@link ActivityRef}. */
  readonly reset?: true;
}

/** How an accepted message ended: its terminal event, cut to what a history may hold. */
export interface Ending {
  readonly runId: string;
  readonly status: RunStatus;
  /** First 200 characters of the answer, or the reason. */
  readonly preview: string;
  readonly error?: HoldfastErrorCode;
  readonly message?: string;
}

export type OpenRunOutput =
  | {
      readonly outcome: 'open';
      readonly storeId: string;
      readonly head: number;
      readonly agent: string;
      readonly model: string;
      readonly limits: RunLimits;
      /** Set for a run that only compacts. */
      readonly compaction?: AskedCompaction;
    }
  /** Opened, but cannot run: close it as failed. */
  | {
      readonly outcome: 'refused';
      readonly storeId: string;
      readonly head: number;
      readonly agent: string;
      readonly model: string;
      readonly error: HoldfastErrorCode;
      readonly message: string;
    }
  /** The message ended before; nothing was written. */
  | { readonly outcome: 'ended'; readonly storeId: string; readonly head: number; readonly ending: Ending };

/** A compaction that an activity asks for; the workflow runs it as a child. */
export interface AskedCompaction {
  /** Random, minted by the activity. */
  readonly compactionId: string;
  readonly trigger: CompactionTrigger;
  /** One line for people. */
  readonly reason: string;
  /** Context window that the provider named in its refusal, in tokens, where it is smaller than the one we know. */
  readonly window?: number;
  /** What the provider counted for the request that it refused. */
  readonly tokens?: number;
  /** Bytes that media may take from now on as base64, where the provider refused the body for its bytes. */
  readonly maxMediaBytes?: number;
}

/** How calls that left no result ended, by call id. */
export type CallFailures = Readonly<
  Record<string, { readonly status: Exclude<ToolResultStatus, 'ok'>; readonly message?: string }>
>;

export interface CallModelInput {
  readonly ref: ActivityRef;
  readonly step: number;
  /** Failures among the previous step's calls; absent when all left a result. */
  readonly failures?: CallFailures;
  /** Messages that join before this step. */
  readonly append?: readonly SendMessage[];
  /** A hidden message joins: after a promise without a call, or an answer that did not fit its schema. */
  readonly control?: ControlMessage;
  /** The one nudge of this user message is spent. */
  readonly nudged?: true;
  /** `provider/model` that the run has fallen back to. */
  readonly model?: string;
  /** A person asked for a compaction: answered with outcome `compact` at once, when the batch is closed and messages have joined. */
  readonly compact?: readonly CompactRequest[];
  /** How the compaction that came before this very call ended. */
  readonly afterCompaction?: CompactionEnd;
  /** Context window that the provider named in an earlier refusal, in tokens. */
  readonly window?: number;
  /** What people added to the run's budgets so far. */
  readonly extension?: Omit<BudgetExtension, 'by'>;
  /** How long the run has worked, in milliseconds; waiting for people does not count. */
  readonly workedMs?: number;
  /** Compactions of this user message in a row that reclaimed less than a tenth; two stop the automatic ones. */
  readonly idleCompactions?: number;
}

/** Why the model is asked once more without a word of the user. */
export type ControlMessage = 'promise' | 'output' | 'cut_call' | 'loop';

/** One call of a batch, as far as the workflow needs it. */
export interface PlannedCall {
  readonly callId: string;
  /** One line for people: the activity's summary. */
  readonly label: string;
  /** Runs alone. */
  readonly exclusive?: true;
  /** Asks a person first. */
  readonly approval?: { readonly argumentsHash: string; readonly deadline: string; readonly name: string };
  /** Given to another agent, as a run in a session of its own. */
  readonly delegate?: DelegatedTask;
  readonly timeoutMs: number;
  /** Another task queue than the tools' own. */
  readonly taskQueue?: string;
}

/** A task that a subagent gets. */
export interface DelegatedTask {
  readonly agent: string;
  /** `<parent>/sub/<callId>`. */
  readonly sessionId: string;
  /** Its text goes by `textRef` where it is long. */
  readonly task: SendMessage;
  readonly root: RootRun;
}

/** How the run of a subagent ended. */
export interface DelegateEnd {
  readonly sessionId: string;
  readonly status: RunStatus;
  /** At most 200 characters; the whole answer is in the store. */
  readonly preview: string;
}

/** What a person, or the deadline, decided of a call. */
export interface CallDecision extends Omit<ApprovalResolution, 'callId' | 'decision'> {
  readonly decision: ApprovalResolution['decision'] | 'timed_out';
}

export type CallModelOutput = {
  readonly head: number;
  /** `provider/model` that answered, when it is not the one that was asked. */
  readonly model?: string;
  /** As the provider reported it. */
  readonly usage?: Usage;
} & (
  | { readonly outcome: 'final'; readonly preview: string; readonly again?: ControlMessage }
  | { readonly outcome: 'tools'; readonly calls: readonly PlannedCall[]; readonly loop?: 'warn' }
  | { readonly outcome: 'pause' }
  | { readonly outcome: 'cancelled' }
  /** Before the call (`compact`), or because the provider refused it for its size (`overflow`): compact, then ask again. */
  | { readonly outcome: 'compact' | 'overflow'; readonly compaction: AskedCompaction }
  | { readonly outcome: 'over_budget'; readonly message: string }
  | { readonly outcome: 'failed'; readonly error: HoldfastErrorCode; readonly message: string }
  | { readonly outcome: 'closed'; readonly status: RunStatus }
);

export interface CallToolInput {
  readonly ref: ActivityRef;
  readonly step: number;
  readonly callId: string;
  /** For a call that asked a person first. Without an approval of these very arguments it is not run. */
  readonly decision?: CallDecision;
  /** For a delegated task: its answer becomes the result. */
  readonly delegate?: DelegateEnd;
}

export interface CallToolOutput {
  readonly status: ToolResultStatus | 'closed';
  /** At most 200 characters. */
  readonly preview: string;
}

export interface SettleBatchInput {
  readonly ref: ActivityRef;
  readonly step: number;
  readonly failures?: CallFailures;
}

export interface CloseRunInput {
  readonly ref: ActivityRef;
  readonly step: number;
  readonly ending: /** `note` is what a run without an answer (it only compacted) tells people. */
    | { readonly status: 'completed'; readonly note?: string }
    | { readonly status: 'cancelled'; readonly reason: string }
    | { readonly status: 'failed'; readonly error: HoldfastErrorCode; readonly message: string };
  /** Messages that this run answers. */
  readonly answers: readonly string[];
  /** Accepted messages that end with this run without having joined it. */
  readonly dropped: readonly SendMessage[];
}

export interface CloseRunOutput extends Ending {
  readonly head: number;
  readonly usage: Usage;
}

/** What a worker runs for `agentRun`. Rejections are `ApplicationFailure`s whose `type` is a {@link HoldfastErrorCode} or `provider/<code>`. */
export interface Activities {
  /** Claims the session, heals what an earlier run left open, writes the run and its message. Idempotent on the run. */
  openRun(input: OpenRunInput): Promise<OpenRunOutput>;
  /** Closes the previous batch, lets messages join, calls the model once, commits. Idempotent on (run, step). */
  callModel(input: CallModelInput): Promise<CallModelOutput>;
  /** Runs one tool call. A tool that fails resolves with its status; it rejects only when it could not be run. Idempotent on the call. */
  callTool(input: CallToolInput): Promise<CallToolOutput>;
  /** Gives results to the calls of a batch that have none, when a run ends early. Idempotent on (run, step). */
  settleBatch(input: SettleBatchInput): Promise<{ readonly head: number }>;
  /** Writes totals and the terminal event. Idempotent on the run. */
  closeRun(input: CloseRunInput): Promise<CloseRunOutput>;
}
