import type { RunStatus } from '../transcript/events.ts';
import type { CallDecision, CallFailures, Ending, PlannedCall, RootRun, RunLimits } from './activities.ts';
import type { CompactionEnd } from './compact-session.ts';
import type { BudgetExtension, CancelRequest, CompactRequest, SendMessage } from './messages.ts';

/** What starts a run: by hand (`prompt`), or by the client (`send` with start, no prompt). */
export interface AgentRunInput {
  readonly sessionId: string;
  /** Text of the user message on a plain start; its message id is then the run id. */
  readonly prompt?: string;
  readonly messageId?: string;
  readonly agent?: string;
  /** `provider/model`. */
  readonly model?: string;
  /** The store that the run must find; absent: the worker's. */
  readonly storeId?: string;
  /** The message of a subagent, and the run at the top of its tree. */
  readonly task?: SendMessage;
  readonly root?: RootRun;
  /** Set by continue-as-new only. */
  readonly carried?: Carried;
}

/** What continue-as-new takes along: ids, counters, queue. */
export interface Carried {
  readonly queue: readonly SendMessage[];
  /** A cancel that came in the moment of continuing: the next execution ends what is queued and calls no model. */
  readonly cancel?: CancelRequest;
  /** Compactions that were asked for and have not begun. */
  readonly compact?: readonly CompactRequest[];
  /** The run that goes on; absent between runs. */
  readonly run?: OpenRunState;
}

/** A run between two steps. */
export interface OpenRunState {
  readonly runId: string;
  readonly storeId: string;
  readonly head: number;
  readonly agent: string;
  readonly model: string;
  readonly limits: RunLimits;
  /** Next step. */
  readonly step: number;
  /** Steps with tools so far. */
  readonly toolTurns: number;
  readonly continuations: number;
  readonly nudged: boolean;
  /** `model` is a fallback, to be told to the next model calls. */
  readonly fellBack?: true;
  readonly failures: CallFailures;
  /** Message ids that this run answers. */
  readonly answers: readonly string[];
  /** The compaction that came right before the next model call. */
  readonly afterCompaction?: CompactionEnd;
  /** Compactions in a row that reclaimed less than a tenth. */
  readonly idleCompactions?: number;
  /** Calls of the last batch that still wait for somebody's approval. */
  readonly waiting?: readonly PlannedCall[];
  /** Decisions on calls that wait, by call id, which have not been carried out. */
  readonly decisions?: Readonly<Record<string, CallDecision>>;
  readonly extension?: Omit<BudgetExtension, 'by'>;
  /** How long the run had worked when this execution began, in milliseconds. */
  readonly workedMs?: number;
  /** Context window that the provider named, where it is smaller than the one we knew, in tokens. */
  readonly window?: number;
}

/** Result of the workflow: how its last run ended. The answer itself is in the store. */
export interface AgentRunResult extends Ending {
  readonly sessionId: string;
  readonly status: RunStatus;
}
