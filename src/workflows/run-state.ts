import { workflowInfo } from '@temporalio/workflow';
import type { ActivityRef } from '../contract/activities.ts';
import type { OpenRunState } from '../contract/agent-run.ts';
import type { SessionState } from './session-state.ts';

export function runOf(state: SessionState): OpenRunState {
  if (state.run === undefined) throw new TypeError('no run is open');
  return state.run;
}

export function refOf(state: SessionState): ActivityRef {
  const { runId, storeId, head } = runOf(state);
  return { sessionId: state.sessionId, runId, storeId, head, ...resetMark() };
}

/** A reset gives an execution another run id; the history keeps the one that it began with. */
export function resetMark(): { readonly reset?: true } {
  const { runId, originalExecutionRunId } = workflowInfo();
  return runId === originalExecutionRunId ? {} : { reset: true };
}
