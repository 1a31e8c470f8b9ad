import { workflowInfo } from '@temporalio/workflow';
import type { AskedCompaction } from '../contract/activities.ts';
import type { CompactionEnd, CompactSessionInput } from '../contract/compact-session.ts';
import { COMPACT_SESSION } from '../contract/identity.ts';
import type { CompactRequest } from '../contract/messages.ts';
import { startOwnChild } from './child-start.ts';
import type { compactSession } from './compact-session.ts';
import { endingOf } from './failures.ts';
import { show } from './presentation.ts';
import { refOf, runOf } from './run-state.ts';
import type { SessionState } from './session-state.ts';

/**
 * Runs one compaction as a child and notes for the next model call how it ended. A child that failed outright (the
 * store refused it) counts as failed: the next activity will hear the same and say so.
 */
export async function compact(
  state: SessionState,
  compaction: AskedCompaction,
  requests: readonly CompactRequest[],
): Promise<CompactionEnd> {
  const run = runOf(state);
  show(state, `compacting (${compaction.trigger}): ${compaction.reason}`);
  const input: CompactSessionInput = {
    ref: refOf(state),
    owner: workflowInfo().runId,
    step: run.step,
    model: run.model,
    compaction,
    requests,
  };
  const end = await child(input).catch((error): CompactionEnd => failedEnd(compaction, error));
  const idle = idleAfter(end, run.idleCompactions ?? 0);
  const window = compaction.window === undefined ? {} : { window: compaction.window };
  state.run = { ...runOf(state), afterCompaction: end, idleCompactions: idle, ...window };
  return end;
}

/** Compactions in a row that came to nothing. What people asked for says nothing of those that a run needs. */
function idleAfter({ progress, trigger }: CompactionEnd, before: number): number {
  if (progress) return 0;
  return trigger === 'manual' ? before : before + 1;
}

async function child(input: CompactSessionInput): Promise<CompactionEnd> {
  const { compactionId, trigger, reason } = input.compaction;
  const handle = await startOwnChild<typeof compactSession>(COMPACT_SESSION, {
    workflowId: compactionId,
    args: [input],
    staticSummary: `${trigger}: ${reason}`,
  });
  return await handle.result();
}

function failedEnd({ compactionId, trigger }: AskedCompaction, error: unknown): CompactionEnd {
  const { error: code, message } = endingOf(error);
  const nothing = { tokensBefore: 0, tokensAfter: 0, progress: false };
  return { compactionId, trigger, outcome: 'failed', ...nothing, error: code, message: message.slice(0, 200) };
}
