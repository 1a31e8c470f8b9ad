import type { Client } from '@temporalio/client';

/** From this attempt on something keeps failing. */
const MANY_ATTEMPTS = 3;

export interface Trouble {
  /** What does not get on. */
  readonly what: string;
  readonly attempt: number;
  readonly why: string;
}

/** What keeps an open workflow from getting on: a failing workflow task, activities tried again and again. */
export async function troubleOf(client: Client, workflowId: string): Promise<readonly Trouble[]> {
  const { raw } = await client.workflow.getHandle(workflowId).describe();
  const taskAttempt = raw.pendingWorkflowTask?.attempt ?? 0;
  const task =
    taskAttempt < MANY_ATTEMPTS ? [] : [{ what: 'the workflow task', attempt: taskAttempt, why: 'it fails' }];
  const activities = (raw.pendingActivities ?? []).flatMap(({ activityType, attempt, lastFailure }) =>
    (attempt ?? 0) < MANY_ATTEMPTS
      ? []
      : [
          {
            what: activityType?.name ?? 'an activity',
            attempt: attempt ?? 0,
            why: lastFailure?.message ?? 'no reason given',
          },
        ],
  );
  return [...task, ...activities];
}
