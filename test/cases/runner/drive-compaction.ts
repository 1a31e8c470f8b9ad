import { ApplicationFailure } from '@temporalio/common';
import type {
  CompactionActivities,
  CompactionEnd,
  CompactSessionInput,
} from '../../../src/contract/compact-session.ts';

/** Runs one activity in its context, again while its failure may be retried. */
export type CallActivity = <T>(activity: () => Promise<T>) => Promise<T>;

/** Drives one compaction through its activities in the order of the workflow `compactSession`. */
export async function driveCompaction(
  activities: CompactionActivities,
  call: CallActivity,
  input: CompactSessionInput,
): Promise<CompactionEnd> {
  try {
    const plan = await call(() => activities.planCompaction(input));
    if (plan.outcome === 'ended') return plan.end;
    await call(() => activities.flushMemory(input));
    await call(() => activities.summarize(input));
    return await call(() => activities.commitCheckpoint(input));
  } catch (error) {
    if (!(error instanceof ApplicationFailure)) throw error;
    const { message } = error;
    return call(() => activities.failCompaction({ ...input, outcome: 'failed', error: 'CompactionFailed', message }));
  }
}
