import { CancellationScope, isCancellation, setCurrentDetails } from '@temporalio/workflow';
import type { CompactionEnd, CompactSessionInput } from '../contract/compact-session.ts';
import { giveUp, phases, summary } from './activity-proxies.ts';
import { endingOf } from './failures.ts';

/**
 * Replaces an old part of a session by a checkpoint: plan, flush memory, summarise (with its gate), commit.
 *
 * Each phase is stored under the compaction's id before it is reported, so a crash at any place goes on where it was and
 * pays for no summary twice. What fails leaves history as it was. Never rejects but when the store refuses for good.
 */
export async function compactSession(input: CompactSessionInput): Promise<CompactionEnd> {
  try {
    return await run(input);
  } catch (error) {
    const cancelled = isCancellation(error) || CancellationScope.current().consideredCancelled;
    const { error: type, message } = endingOf(error);
    setCurrentDetails(cancelled ? 'cancelled' : `failed: ${message}`);
    const outcome = cancelled ? 'cancelled' : 'failed';
    return await CancellationScope.nonCancellable(() =>
      giveUp.failCompaction({ ...input, outcome, error: type, message }),
    );
  }
}

async function run(input: CompactSessionInput): Promise<CompactionEnd> {
  const { trigger, reason } = input.compaction;
  setCurrentDetails(`planning (${trigger}: ${reason})`);
  const plan = await phases.planCompaction.executeWithOptions({ summary: `plan · ${trigger} · ${reason}` }, [input]);
  if (plan.outcome === 'ended') return plan.end;
  setCurrentDetails(`keeping facts of ${plan.label}`);
  const flushed = await phases.flushMemory.executeWithOptions({ summary: `flush memory · ${plan.label}` }, [input]);
  setCurrentDetails(`summarising ${plan.label} (${flushed.label})`);
  const written = await summary.summarize.executeWithOptions({ summary: `summarise · ${plan.label}` }, [input]);
  setCurrentDetails(`committing: ${written.label}`);
  const end = await phases.commitCheckpoint.executeWithOptions({ summary: `commit · ${written.label}` }, [input]);
  setCurrentDetails(`${end.outcome}: ${end.tokensBefore} → ${end.tokensAfter} tokens`);
  return end;
}
