import { CancellationScope } from '@temporalio/workflow';
import type { CallDecision, PlannedCall } from '../contract/activities.ts';
import type { AgentRunInput, OpenRunState } from '../contract/agent-run.ts';
import type { CancelRequest, CompactRequest, SendMessage } from '../contract/messages.ts';
import type { Usage } from '../transcript/message.ts';

/** What one execution of `agentRun` knows: plain data, and the scope that a cancel ends. */
export interface SessionState {
  readonly sessionId: string;
  /** Accepted messages that no run has taken in, oldest first. */
  readonly inbox: SendMessage[];
  /** Compactions that were asked for and have not begun. */
  readonly compact: CompactRequest[];
  /** Set once and for ever by a cancel, by signal or natively. */
  cancel: CancelRequest | undefined;
  /** A cancel or a failure settles: nothing more is accepted by this execution. */
  closing: boolean;
  /** The run that is open, as far as it is. */
  run: OpenRunState | undefined;
  /** What the run does now, one line for people. */
  activity: string;
  status: 'running' | 'waiting';
  /** Calls that wait for somebody's approval, by call id. */
  readonly pending: Map<string, PlannedCall>;
  /** What was decided of them and has not been carried out. */
  readonly decisions: Map<string, CallDecision>;
  /** Calls that run now, and waits for people that are open. */
  busy: number;
  waiting: number;
  /** Work done before `workingSince`, in milliseconds; the clock is the workflow's. */
  workedMs: number;
  workingSince: number;
  /** Sum over the run's model calls in this execution. */
  usage: Usage;
  /** Tokens of the last request, for summaries. */
  contextTokens: number | undefined;
  /** Everything that a cancel must interrupt runs in here. */
  readonly work: CancellationScope;
}

export function sessionState(input: AgentRunInput): SessionState {
  return {
    sessionId: input.sessionId,
    inbox: [...(input.carried?.queue ?? [])],
    compact: [...(input.carried?.compact ?? [])],
    cancel: input.carried?.cancel,
    closing: input.carried?.cancel !== undefined,
    run: input.carried?.run,
    activity: 'starting',
    status: 'running',
    pending: new Map(),
    decisions: new Map(Object.entries(input.carried?.run?.decisions ?? {})),
    busy: 0,
    waiting: 0,
    workedMs: input.carried?.run?.workedMs ?? 0,
    workingSince: Date.now(),
    usage: NO_USAGE,
    contextTokens: undefined,
    work: new CancellationScope({ cancellable: true }),
  };
}

const NO_USAGE: Usage = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
};

/** Adds up what model calls used. */
export function addUsage(sum: Usage, more: Usage): Usage {
  return {
    inputTokens: sum.inputTokens + more.inputTokens,
    outputTokens: sum.outputTokens + more.outputTokens,
    cacheReadTokens: sum.cacheReadTokens + more.cacheReadTokens,
    cacheWriteTokens: sum.cacheWriteTokens + more.cacheWriteTokens,
    reasoningTokens: sum.reasoningTokens + more.reasoningTokens,
  };
}

/** Whether anybody asked to stop: by our signal, or natively (Web UI, `handle.cancel()`). */
export function isCancelled(state: SessionState, root: CancellationScope): boolean {
  return state.cancel !== undefined || root.consideredCancelled;
}
