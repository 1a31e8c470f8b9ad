import { factsOf } from '../compaction/memory-facts.ts';
import type { CompactionResult } from '../compaction/models.ts';
import { type CompactionJob, CompactionService, type Ended } from '../compaction/service.ts';
import type { CompactionActivities, CompactionEnd } from '../contract/compact-session.ts';
import { isHoldfastErrorCode } from '../contract/errors.ts';
import type { Json } from '../transcript/json.ts';
import { preview } from '../transcript/preview.ts';
import { type CompactionContext, compactionContext } from './compaction-context.ts';
import { translated } from './failure.ts';
import { withHeartbeat } from './heartbeat.ts';
import { afterCompaction, beforeCompaction } from './hook-calls.ts';
import type { SharedDeps } from './model-call.ts';
import { writeSummary } from './write-summary.ts';

/** The phases of `compactSession`: each finds its job in the store, does it once, and says in a line what came of it. */
export function createCompactionActivities(deps: SharedDeps): CompactionActivities {
  const service = new CompactionService(deps.store);
  return {
    planCompaction: (input) =>
      alive(async () => {
        const context = await compactionContext(deps, input);
        const { job } = context;
        await beforeCompaction(deps, input, context);
        const planned = await service.plan(job);
        if (planned.status !== 'cut') {
          return { outcome: 'ended', end: await afterCompaction(deps, input, context, endOf(job, planned)) };
        }
        const { droppedItems, droppedTokens } = planned.cut;
        return { outcome: 'cut', label: `${droppedItems} items, ${droppedTokens} tokens` };
      }),
    flushMemory: (input) => alive(async () => flush(deps, service, await compactionContext(deps, input))),
    summarize: (input) =>
      translated(() =>
        withHeartbeat(async (signal, note) => ({
          label: await writeSummary({ deps, service, context: await compactionContext(deps, input), signal, note }),
        })),
      ),
    commitCheckpoint: (input) =>
      alive(async () => {
        const context = await compactionContext(deps, input);
        const { job } = context;
        return afterCompaction(deps, input, context, endOf(job, await service.commit(job)));
      }),
    failCompaction: (input) =>
      translated(async () => {
        const context = await compactionContext(deps, input);
        const { job } = context;
        return afterCompaction(deps, input, context, endOf(job, await service.fail(job, input)));
      }),
  };
}

/** A worker that dies here is missed after seconds, not when the phase's time is over. */
function alive<T>(work: () => Promise<T>): Promise<T> {
  return translated(() => withHeartbeat(work));
}

async function flush(
  { store }: SharedDeps,
  service: CompactionService,
  { job, fileEffects }: CompactionContext,
): Promise<{ readonly label: string }> {
  const planned = await service.planned(job);
  if ('status' in planned) return { label: 'over' };
  const { sessionId } = job.writer;
  const { compactionId } = job;
  const facts = factsOf({ parts: planned.dropped, sessionId, compactionId, effects: fileEffects });
  const count = `${facts.length} facts`;
  const output: Json = {
    facts: facts.length,
    quarantined: facts.filter(({ status }) => status === 'quarantined').length,
  };
  await store.commitPhase(job.writer, {
    ref: job.ref,
    step: job.step,
    compactionId,
    phase: 'flush',
    output,
    events: [],
    facts,
  });
  return { label: count };
}

function endOf(job: CompactionJob, ended: Ended): CompactionEnd {
  const { compactionId, trigger } = job;
  if (ended.status === 'closed') {
    return { compactionId, trigger, outcome: 'closed', tokensBefore: 0, tokensAfter: 0, progress: false };
  }
  return shortEnd(ended.result);
}

/** What a history may hold of a result. */
function shortEnd({ outcome, tokensBefore, tokensAfter, progress, ...rest }: CompactionResult): CompactionEnd {
  const { compactionId, trigger, error, message } = rest;
  return {
    compactionId,
    trigger,
    outcome,
    tokensBefore,
    tokensAfter,
    progress,
    ...(error !== undefined && isHoldfastErrorCode(error) ? { error } : {}),
    ...(message === undefined ? {} : { message: preview(message) }),
  };
}
