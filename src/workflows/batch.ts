import { ActivityFailure, TimeoutFailure } from '@temporalio/workflow';
import type { CallDecision, CallFailures, DelegateEnd, PlannedCall } from '../contract/activities.ts';
import { tools } from './activity-proxies.ts';
import { runDelegate } from './delegate.ts';
import { busy, decisionOn } from './people.ts';
import { refOf, runOf } from './run-state.ts';
import type { SessionState } from './session-state.ts';
import { createSlots, type Slots } from './slots.ts';

/** How long beyond the tool's own timeout the activity may take: the tool's timeout is kept inside and gives a result. */
const GRACE_MS = 30_000;

type Failure = CallFailures[string];

export interface BatchEnd {
  /** Calls that left no result, by id. */
  readonly failures: CallFailures;
  /** Calls that still wait for people: to be waited for in a new execution. */
  readonly waiting: readonly PlannedCall[];
}

/**
 * Runs a batch: calls in parallel, as many at once as the run's limits allow; an exclusive one alone, in call order; those
 * that need an approval when they have it. Never rejects: calls that could not be run are told by id, for the transcript.
 */
export async function runBatch(
  state: SessionState,
  calls: readonly PlannedCall[],
  cancelled: () => boolean,
): Promise<BatchEnd> {
  const slots = createSlots(runOf(state).limits.maxParallelTools);
  const failures: Record<string, Failure> = {};
  const waiting: PlannedCall[] = [];
  for (const call of calls) if (call.approval !== undefined) state.pending.set(call.callId, call);
  for (const wave of waves(calls)) {
    await Promise.all(
      wave.map(async (call) => {
        const end = await one(state, call, slots, cancelled);
        if (end === 'waiting') waiting.push(call);
        else if (end !== 'done') failures[call.callId] = end;
      }),
    );
  }
  state.pending.clear();
  return { failures, waiting };
}

/** Neighbours that may run together; an exclusive call is a wave of its own. */
function waves(calls: readonly PlannedCall[]): PlannedCall[][] {
  const result: PlannedCall[][] = [];
  let open: PlannedCall[] | undefined;
  for (const call of calls) {
    if (call.exclusive === true) {
      result.push([call]);
      open = undefined;
    } else if (open === undefined) {
      open = [call];
      result.push(open);
    } else {
      open.push(call);
    }
  }
  return result;
}

type CallEnd = 'done' | 'waiting' | Failure;

/** One call from its approval, where it needs one, to its result. */
async function one(state: SessionState, call: PlannedCall, slots: Slots, cancelled: () => boolean): Promise<CallEnd> {
  let decision: CallDecision | undefined;
  if (call.approval !== undefined) {
    const waited = await decisionOn(state, call).catch(() => undefined);
    if (waited === undefined || cancelled()) return { status: 'aborted' };
    if (waited.outcome === 'leave') return 'waiting';
    decision = waited.decision;
  }
  await slots.take();
  try {
    if (cancelled()) return { status: 'aborted' };
    return await busy(state, () => carriedOut(state, call, decision, cancelled));
  } finally {
    slots.give();
    state.decisions.delete(call.callId);
  }
}

async function carriedOut(
  state: SessionState,
  call: PlannedCall,
  decision: CallDecision | undefined,
  cancelled: () => boolean,
): Promise<'done' | Failure> {
  try {
    const refused =
      decision !== undefined && decision.decision !== 'approve' && decision.decision !== 'approve_session';
    const delegate = call.delegate === undefined || refused ? undefined : await runDelegate(call.delegate);
    await callTool(state, call, { decision, delegate });
    return 'done';
  } catch (error) {
    return failureOf(error, cancelled);
  }
}

async function callTool(
  state: SessionState,
  call: PlannedCall,
  { decision, delegate }: { decision: CallDecision | undefined; delegate: DelegateEnd | undefined },
): Promise<void> {
  await tools.callTool.executeWithOptions(
    {
      summary: call.label,
      startToCloseTimeout: `${call.timeoutMs + GRACE_MS} milliseconds`,
      ...(call.taskQueue === undefined ? {} : { taskQueue: call.taskQueue }),
    },
    [
      {
        ref: refOf(state),
        step: runOf(state).step,
        callId: call.callId,
        ...(decision === undefined ? {} : { decision }),
        ...(delegate === undefined ? {} : { delegate }),
      },
    ],
  );
}

/** The failure of a call that left no result. */
function failureOf(error: unknown, cancelled: () => boolean): Failure {
  // Once a cancel is asked, every rejection counts as one: a worker that died after it reports a timeout.
  if (cancelled()) return { status: 'cancelled' };
  const cause = error instanceof ActivityFailure ? error.cause : error;
  if (cause instanceof TimeoutFailure) return { status: 'unknown_outcome', message: 'the worker that ran it was lost' };
  return {
    status: 'error',
    message: cause instanceof Error ? cause.message.slice(0, 200) : 'the tool could not be run',
  };
}
