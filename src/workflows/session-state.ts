import { CancellationScope } from '@temporalio/workflow';
import type { AgentRunInput, OpenRunState } from '../contract/agent-run.ts';
import type { CancelRequest, CompactRequest, SendMessage } from '../contract/messages.ts';

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
    contextTokens: undefined,
    work: new CancellationScope({ cancellable: true }),
  };
}

/** Whether anybody asked to stop: by our signal, or natively (Web UI, `handle.cancel()`). */
export function isCancelled(state: SessionState, root: CancellationScope): boolean {
  return state.cancel !== undefined || root.consideredCancelled;
}
