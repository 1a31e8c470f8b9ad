import type { Usage } from '../transcript/message.ts';
import { prepared, type Value } from './prepared.ts';
import type { Run } from './run-state.ts';
import type { SessionWrite } from './session-write.ts';

/** What one model call cost. */
export interface Spending {
  /** `null` when the provider told none. */
  readonly usage: Usage | null;
  /** `null` when its price is unknown. */
  readonly costUsd: number | null;
}

/** Adds to the run's totals, once in a transaction: `run` is as it was before. */
export async function addToTotals(
  write: SessionWrite,
  run: Run,
  { steps, spent }: { readonly steps: number; readonly spent: readonly Spending[] },
): Promise<void> {
  const sum = (of: (usage: Usage) => number): number =>
    spent.reduce((total, { usage }) => total + (usage === null ? 0 : of(usage)), 0);
  await updateTotals(write.trx, {
    runId: run.run_id,
    steps: run.steps + steps,
    inputTokens: run.input_tokens + sum((usage) => usage.inputTokens),
    outputTokens: run.output_tokens + sum((usage) => usage.outputTokens),
    cacheReadTokens: run.cache_read_tokens + sum((usage) => usage.cacheReadTokens),
    cacheWriteTokens: run.cache_write_tokens + sum((usage) => usage.cacheWriteTokens),
    reasoningTokens: run.reasoning_tokens + sum((usage) => usage.reasoningTokens),
    costUsd: spent.reduce((total, { costUsd }) => total + (costUsd ?? 0), run.cost_usd),
    unpriced: run.unpriced_steps + spent.filter(({ costUsd }) => costUsd === null).length,
  });
}

interface Totals extends Usage {
  readonly runId: string;
  readonly steps: number;
  readonly costUsd: number;
  readonly unpriced: number;
}

const updateTotals = prepared((db, value: Value<Totals>) =>
  db
    .updateTable('agent_runs')
    .set({
      steps: value('steps'),
      input_tokens: value('inputTokens'),
      output_tokens: value('outputTokens'),
      cache_read_tokens: value('cacheReadTokens'),
      cache_write_tokens: value('cacheWriteTokens'),
      reasoning_tokens: value('reasoningTokens'),
      cost_usd: value('costUsd'),
      unpriced_steps: value('unpriced'),
    })
    .where('run_id', '=', value('runId')),
);
