import { ActivityCancellationType, type ActivityInterfaceFor, proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../contract/activities.ts';
import type { CompactionActivities } from '../contract/compact-session.ts';
import { TOOLS_TASK_QUEUE } from '../contract/identity.ts';

/** How long a dead worker goes unnoticed, and that a cancel waits until what is under way has been committed. */
const WATCHED = {
  heartbeatTimeout: '10 seconds',
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
} as const;

/** For what waits for a provider: it asks for more patience than a store. */
const PATIENT = { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '30 seconds' } as const;
/** For what is retried for ever. */
const STEADY = { initialInterval: '500 milliseconds', backoffCoefficient: 2, maximumInterval: '15 seconds' } as const;

type Proxy<Names extends keyof Activities> = ActivityInterfaceFor<Pick<Activities, Names>>;

/**
 * Model calls are retried until an hour has passed: what must not be retried says so itself. The heartbeat timeout is
 * how long a dead worker goes unnoticed; cancellation waits for the partial answer to be committed.
 */
export const model: Proxy<'callModel'> = proxyActivities<Pick<Activities, 'callModel'>>({
  startToCloseTimeout: '10 minutes',
  scheduleToCloseTimeout: '1 hour',
  ...WATCHED,
  retry: PATIENT,
});

/**
 * Ten attempts: some can be spent without the tool having run (a frozen worker's polls still take tasks), and a tool that
 * fails is a result, not a failure of the activity. At most once is the ledger's business.
 */
export const tools: Proxy<'callTool'> = proxyActivities<Pick<Activities, 'callTool'>>({
  taskQueue: TOOLS_TASK_QUEUE,
  startToCloseTimeout: '90 seconds',
  ...WATCHED,
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '10 seconds', maximumAttempts: 10 },
});

/** What must happen before a run may begin or close: retried for ever, so that a store that is away only delays it. */
export const bookkeeping: Proxy<'openRun' | 'settleBatch' | 'closeRun'> = proxyActivities<
  Pick<Activities, 'openRun' | 'settleBatch' | 'closeRun'>
>({
  startToCloseTimeout: '30 seconds',
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  retry: STEADY,
});

type Phase<Names extends keyof CompactionActivities> = ActivityInterfaceFor<Pick<CompactionActivities, Names>>;

/** Phases of a compaction that only read and write the store. */
export const phases: Phase<'planCompaction' | 'flushMemory' | 'commitCheckpoint'> = proxyActivities<
  Pick<CompactionActivities, 'planCompaction' | 'flushMemory' | 'commitCheckpoint'>
>({
  startToCloseTimeout: '1 minute',
  scheduleToCloseTimeout: '15 minutes',
  ...WATCHED,
  retry: { initialInterval: '500 milliseconds', backoffCoefficient: 2, maximumInterval: '10 seconds' },
});

/** Model calls that write a summary; what each piece cost is kept, so that a retry pays for what is missing only. */
export const summary: Phase<'summarize'> = proxyActivities<Pick<CompactionActivities, 'summarize'>>({
  startToCloseTimeout: '10 minutes',
  scheduleToCloseTimeout: '30 minutes',
  ...WATCHED,
  retry: PATIENT,
});

/** Told whatever happens: a compaction that nobody hears of would be waited for. */
export const giveUp: Phase<'failCompaction'> = proxyActivities<Pick<CompactionActivities, 'failCompaction'>>({
  startToCloseTimeout: '30 seconds',
  retry: STEADY,
});
