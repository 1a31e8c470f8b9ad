import type { AgentEvent, RunStatus } from '../transcript/events.ts';
import type { Usage } from '../transcript/message.ts';
import { appendEvents } from './append-events.ts';
import { endMessages, takenBy, unended } from './messages.ts';
import { closeOpenBatch } from './open-batch.ts';
import type { Run } from './run-state.ts';
import type { SessionWrite } from './session-write.ts';
import type { CloseRun, MessageOutcome } from './store.ts';

export interface Ending {
  readonly status: Exclude<RunStatus, 'running' | 'waiting'>;
  readonly final: CloseRun['final'];
  /** Events before the terminal one. */
  readonly events: readonly AgentEvent[];
  /** Waiting messages that end with the run. */
  readonly dropped: readonly string[];
}

/**
 * Ends an open run: closes its batch, drops its deltas, writes the terminal event with the run's totals, and ends each
 * message it answers, each it took in, and each it drops, unless that one ended before.
 */
export async function endRun(write: SessionWrite, run: Run, ending: Ending): Promise<MessageOutcome['event']> {
  await closeOpenBatch(write, {});
  await write.trx.deleteFrom('event_deltas').where('run_id', '=', run.run_id).execute();
  await appendEvents(write, run.run_id, ending.events);

  const dropped = ending.final.type === 'final_response' ? ending.dropped : [];
  if (dropped.length > 0) await endDropped(write, run.run_id, dropped);
  const taken = await takenBy(write, run.run_id);
  const also = ending.final.type === 'final_response' ? [] : ending.dropped;
  const answers = await unended(write, [...ending.final.answers, ...taken, ...also]);

  const final = withTotals(run, { ...ending.final, answers });
  const index = await appendEvents(write, run.run_id, [final]);
  await endMessages(write, run.run_id, index, answers);
  await write.trx
    .updateTable('agent_runs')
    .set({ status: ending.status, completed_at: write.at, final_index: index })
    .where('run_id', '=', run.run_id)
    .execute();
  write.changed = true;
  return final;
}

/** An answered run ends only its own messages by its answer; others that go with it get an ending of their own. */
async function endDropped(write: SessionWrite, runId: string, messageIds: readonly string[]): Promise<void> {
  const answers = await unended(write, messageIds);
  if (answers.length === 0) return;
  const index = await appendEvents(write, runId, [{ type: 'loop_aborted', reason: 'The run ended first.', answers }]);
  await endMessages(write, runId, index, answers);
}

function withTotals(run: Run, final: CloseRun['final']): MessageOutcome['event'] {
  if (final.type !== 'final_response') return final;
  return { ...final, steps: run.steps, usage: usageOf(run), costUsd: costOf(run) };
}

export function usageOf(run: Run): Usage {
  return {
    inputTokens: run.input_tokens,
    outputTokens: run.output_tokens,
    cacheReadTokens: run.cache_read_tokens,
    cacheWriteTokens: run.cache_write_tokens,
    reasoningTokens: run.reasoning_tokens,
  };
}

/** Dollars; `null` when some step's price is unknown. */
export function costOf(run: Run): number | null {
  return run.unpriced_steps > 0 ? null : run.cost_usd;
}
