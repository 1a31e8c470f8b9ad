import type { Usage } from '../transcript/message.ts';
import { appendEvents } from './append-events.ts';
import { appendItems } from './append-items.ts';
import { requestRow } from './begin-step.ts';
import { refused } from './refusals.ts';
import { isClosed, type Run } from './run-state.ts';
import { type RunWrite, writeRun } from './run-write.ts';
import type { SessionWrite } from './session-write.ts';
import type { CommitStep, CommittedStep } from './store.ts';

const NO_USAGE: Usage = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
};

/** See {@link Store.commitStep}. */
export async function commitStep(target: RunWrite, input: CommitStep): Promise<CommittedStep> {
  return await writeRun(target, async (write, run) => {
    if (isClosed(run.status)) return { status: 'closed', head: write.lastSeq, runStatus: run.status };
    const request = await requestRow(write, input.ref.runId, input.step);
    if (request === undefined) throw refused(`Step ${input.step} of run ${input.ref.runId} was never begun.`);
    if (request.outcome_json !== null) {
      return { status: 'committed', head: write.lastSeq, outcome: JSON.parse(request.outcome_json) };
    }
    await commit(write, run, input);
    return { status: 'committed', head: write.lastSeq, outcome: input.outcome };
  });
}

async function commit(write: SessionWrite, run: Run, input: CommitStep): Promise<void> {
  const { runId } = input.ref;
  await appendItems(write, { runId, step: input.step }, input.items);
  await appendEvents(write, runId, input.events);
  await write.trx.deleteFrom('event_deltas').where('run_id', '=', runId).execute();
  await write.trx
    .updateTable('requests')
    .set({
      model: input.model,
      request_json: JSON.stringify(input.request),
      outcome_json: JSON.stringify(input.outcome),
      committed_at: write.at,
    })
    .where('run_id', '=', runId)
    .where('step', '=', input.step)
    .execute();
  await write.trx
    .insertInto('usage')
    .values({
      run_id: runId,
      step: input.step,
      purpose: 'step',
      session_id: write.writer.sessionId,
      model: input.model,
      usage_json: input.usage === null ? null : JSON.stringify(input.usage),
      cost_usd: input.costUsd,
      created_at: write.at,
    })
    .execute();
  await addToTotals(write, run, input);
}

async function addToTotals(write: SessionWrite, run: Run, input: CommitStep): Promise<void> {
  const usage = input.usage ?? NO_USAGE;
  await write.trx
    .updateTable('agent_runs')
    .set({
      steps: run.steps + 1,
      input_tokens: run.input_tokens + usage.inputTokens,
      output_tokens: run.output_tokens + usage.outputTokens,
      cache_read_tokens: run.cache_read_tokens + usage.cacheReadTokens,
      cache_write_tokens: run.cache_write_tokens + usage.cacheWriteTokens,
      reasoning_tokens: run.reasoning_tokens + usage.reasoningTokens,
      cost_usd: run.cost_usd + (input.costUsd ?? 0),
      unpriced_steps: run.unpriced_steps + (input.costUsd === null ? 1 : 0),
    })
    .where('run_id', '=', run.run_id)
    .execute();
}
