import { ActivityFailure, TimeoutFailure } from '@temporalio/workflow';
import type { ActivityRef, CallFailures, PlannedCall } from '../contract/activities.ts';
import { tools } from './activity-proxies.ts';

/** How long beyond the tool's own timeout the activity may take: the tool's timeout is kept inside and gives a result. */
const GRACE_MS = 30_000;

type Failure = CallFailures[string];

/**
 * Runs a batch: calls in parallel, at most `maxParallel` at once; an exclusive one alone, in call order. Never rejects:
 * calls that could not be run are told by id, for the transcript.
 */
export async function runBatch(
  ref: ActivityRef,
  step: number,
  calls: readonly PlannedCall[],
  maxParallel: number,
  cancelled: () => boolean,
): Promise<CallFailures> {
  const failures: Record<string, Failure> = {};
  const one = async (call: PlannedCall): Promise<void> => {
    const failure = cancelled() ? ({ status: 'aborted' } as const) : await run(ref, step, call, cancelled);
    if (failure !== undefined) failures[call.callId] = failure;
  };
  for (const wave of waves(calls.filter((call) => call.settled !== true))) {
    await inParallel(wave, maxParallel, one);
  }
  return failures;
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

async function inParallel(
  calls: readonly PlannedCall[],
  max: number,
  one: (call: PlannedCall) => Promise<void>,
): Promise<void> {
  const waiting = [...calls];
  const lane = async (): Promise<void> => {
    for (let call = waiting.shift(); call !== undefined; call = waiting.shift()) await one(call);
  };
  await Promise.all(Array.from({ length: Math.min(max, calls.length) }, lane));
}

/** The failure of a call that left no result, or `undefined`. */
async function run(
  ref: ActivityRef,
  step: number,
  call: PlannedCall,
  cancelled: () => boolean,
): Promise<Failure | undefined> {
  const timeout = `${call.timeoutMs + GRACE_MS} milliseconds` as const;
  try {
    await tools.callTool.executeWithOptions(
      {
        summary: call.label,
        startToCloseTimeout: timeout,
        ...(call.taskQueue === undefined ? {} : { taskQueue: call.taskQueue }),
      },
      [{ ref, step, callId: call.callId }],
    );
    return undefined;
  } catch (error) {
    // Once a cancel is asked, every rejection counts as one: a worker that died after it reports a timeout.
    if (cancelled()) return { status: 'cancelled' };
    const cause = error instanceof ActivityFailure ? error.cause : error;
    if (cause instanceof TimeoutFailure)
      return { status: 'unknown_outcome', message: 'the worker that ran it was lost' };
    return {
      status: 'error',
      message: cause instanceof Error ? cause.message.slice(0, 200) : 'the tool could not be run',
    };
  }
}
