import { Context } from '@temporalio/activity';
import type { ActivityRef } from '../contract/activities.ts';
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

export function runRef(ref: ActivityRef): RunRef {
  return { storeId: ref.storeId, runId: ref.runId, head: ref.head };
}
