import { Context } from '@temporalio/activity';
import type { ActivityRef } from '../contract/activities.ts';
import type { ResetPoint } from '../store/reset-port.ts';
import type { RunRef, Writer } from '../store/store.ts';

/** Who writes, as the store's fences need it: the execution and attempt that Temporal gave this activity. */
export function currentWriter(sessionId: string): Writer {
  const { info } = Context.current();
  return {
    sessionId,
    owner: info.workflowExecution?.runId ?? info.activityId,
    scheduledAtMs: info.currentAttemptScheduledTimestampMs,
    activityId: info.activityId,
    attempt: info.attempt,
  };
}

/** `at`: where the activity stands, for a run that was reset. */
export function runRef(ref: ActivityRef, at: ResetPoint): RunRef {
  const { storeId, runId, head } = ref;
  return { storeId, runId, head, ...(ref.reset === true ? { reset: at } : {}) };
}
