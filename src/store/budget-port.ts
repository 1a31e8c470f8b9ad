import type { RunStatus } from '../transcript/events.ts';
import type { RunRef, Writer } from './store.ts';

/** Amounts that a run or a session may use up. Absent: no limit. */
export interface BudgetLimits {
  readonly maxUsd?: number;
  /** Input and output together. */
  readonly maxTokens?: number;
  readonly maxDurationMs?: number;
}

/** The run at the top of a tree of subagents; a run that nobody delegated is its own. */
export interface BudgetRoot {
  readonly runId: string;
  readonly sessionId: string;
}

/** Limits that hold for a run, frozen with it. Those of `run` and `session` are the root's: subagents share them. */
export interface RunBudgets {
  readonly run?: BudgetLimits;
  readonly session?: BudgetLimits;
  /** A subagent's own limits, within those of its root. */
  readonly own?: BudgetLimits;
}

/** One model call that is about to be made. */
export interface ReserveBudget {
  readonly ref: RunRef;
  readonly step: number;
  /** `step`, or `compaction/<id>/<phase>`. */
  readonly purpose: string;
  readonly root: BudgetRoot;
  readonly budgets: RunBudgets;
  /** The most that the call can use. */
  readonly tokens: number;
  /** The most that it can cost; `null` when its price is unknown. */
  readonly usd: number | null;
  /** What people added to the run's limits so far, all in all. */
  readonly extension?: BudgetLimits;
  /** How long the run has worked; absent where nobody knows, and nothing is then said of its duration. */
  readonly workedMs?: number;
}

/** How much of one limit is used. Durations are in milliseconds. */
export interface BudgetUse {
  readonly scope: 'run' | 'session';
  /** The run (with all that it delegated), or the session. */
  readonly id: string;
  readonly limit: keyof BudgetLimits;
  /** With what people added. */
  readonly max: number;
  readonly used: number;
}

export type ReservedBudget =
  | { readonly status: 'reserved' }
  /** `wanted` is what the call would have needed on top of what is used. */
  | { readonly status: 'exhausted'; readonly use: BudgetUse; readonly wanted: number }
  | { readonly status: 'closed'; readonly head: number; readonly runStatus: RunStatus };

/** Ends the reservation of a call in the transaction that commits what came of it. */
export interface BudgetSettlement {
  /** What the call used by our own estimate, where the provider told nothing. */
  readonly unreported?: { readonly tokens: number; readonly usd: number | null };
  /** How long the run had worked when the call ended. */
  readonly workedMs?: number;
}

/** What budgets need of a store. What is used is what runs have used, and what calls under way may use. */
export interface BudgetStore {
  /**
   * Sets aside what a call may use, or tells which limit it would break. A run makes one call at a time: an earlier
   * reservation of the run that was not settled is released, so retries and fallbacks never count twice. Writes
   * `budget_warning` once for each limit of which four fifths are used.
   */
  reserveBudget(writer: Writer, input: ReserveBudget): Promise<ReservedBudget>;
  /** All limits of a run; empty when it has none, or is not there. */
  budgets(runId: string): Promise<readonly BudgetUse[]>;
}
