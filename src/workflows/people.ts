import { condition, workflowInfo } from '@temporalio/workflow';
import type { CallDecision, PlannedCall } from '../contract/activities.ts';
import { showStatus } from './presentation.ts';
import type { SessionState } from './session-state.ts';

/** What came of waiting for people. `leave`: the history is long enough and nothing runs; wait on in a new execution. */
export type Waited = { readonly outcome: 'decided'; readonly decision: CallDecision } | { readonly outcome: 'leave' };

/**
 * Waits until somebody decides on the call, or its deadline passes: whichever comes first is carried out. Rejects when
 * the scope is cancelled.
 */
export async function decisionOn(state: SessionState, call: PlannedCall): Promise<Waited> {
  const { approval, callId } = call;
  if (approval === undefined) throw new TypeError(`call ${callId} asks nobody`);
  const left = Math.max(0, Date.parse(approval.deadline) - Date.now());
  const decided = await waiting(state, () => state.decisions.has(callId) || mayLeave(state), left);
  const given = state.decisions.get(callId);
  if (given !== undefined) return { outcome: 'decided', decision: given };
  if (decided) return { outcome: 'leave' };
  const { argumentsHash } = approval;
  return { outcome: 'decided', decision: { argumentsHash, decision: 'timed_out', by: 'deadline' } };
}

/** How long a used-up budget waits for somebody to extend it, in milliseconds. */
const EXTENSION_MS = 24 * 3_600_000;

/** Waits until somebody extends the run's budget; `false` when nobody did in time. */
export function extended(state: SessionState): Promise<boolean> {
  const before = state.run?.extension;
  return waiting(state, () => state.run?.extension !== before, EXTENSION_MS);
}

function mayLeave(state: SessionState): boolean {
  return state.busy === 0 && workflowInfo().continueAsNewSuggested;
}

/** Time that is waited for people is not work; while nothing else runs, the run's status says so. */
async function waiting(state: SessionState, until: () => boolean, forMs: number): Promise<boolean> {
  if (until()) return true;
  state.waiting += 1;
  refresh(state);
  try {
    return forMs > 0 && (await condition(until, forMs));
  } finally {
    state.waiting -= 1;
    refresh(state);
  }
}

/** A call that runs, counted so that a run which only waits is told apart. */
export async function busy<T>(state: SessionState, work: () => Promise<T>): Promise<T> {
  state.busy += 1;
  refresh(state);
  try {
    return await work();
  } finally {
    state.busy -= 1;
    refresh(state);
  }
}

/** Keeps the status and the clock of work true; one event in the history when the status changes. */
function refresh(state: SessionState): void {
  const status = state.waiting > 0 && state.busy === 0 ? 'waiting' : 'running';
  if (status === state.status) return;
  const now = Date.now();
  if (status === 'waiting') state.workedMs += now - state.workingSince;
  else state.workingSince = now;
  state.status = status;
  if (!state.closing) showStatus(state, status);
}

/** How long the run has worked so far, in milliseconds. */
export function workedMs(state: SessionState): number {
  return state.workedMs + (state.status === 'waiting' ? 0 : Date.now() - state.workingSince);
}
