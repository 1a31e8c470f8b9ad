import type { Usage } from '../transcript/message.ts';
import { appendEvents } from './append-events.ts';
import { appendItems } from './append-items.ts';
import { requestRow } from './begin-step.ts';
import { prepared, preparedInsert, type Value } from './prepared.ts';
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
  await dropDeltas(write.trx, { runId });
  await updateRequest(write.trx, {
    model: input.model,
    request: JSON.stringify(input.request),
    outcome: JSON.stringify(input.outcome),
    at: write.at,
    runId,
    step: input.step,
  });
  await insertUsage(write.trx, [
    {
      run_id: runId,
      step: input.step,
      purpose: 'step',
      session_id: write.writer.sessionId,
      model: input.model,
      usage_json: input.usage === null ? null : JSON.stringify(input.usage),
      cost_usd: input.costUsd,
      created_at: write.at,
    },
  ]);
  await updateTotals(write.trx, { ...totals(run, input.usage ?? NO_USAGE, input.costUsd), runId });
}

interface Totals extends Usage {
  readonly steps: number;
  readonly costUsd: number;
  readonly unpriced: number;
}

function totals(run: Run, usage: Usage, costUsd: number | null): Totals {
  return {
    steps: run.steps + 1,
    inputTokens: run.input_tokens + usage.inputTokens,
    outputTokens: run.output_tokens + usage.outputTokens,
    cacheReadTokens: run.cache_read_tokens + usage.cacheReadTokens,
    cacheWriteTokens: run.cache_write_tokens + usage.cacheWriteTokens,
    reasoningTokens: run.reasoning_tokens + usage.reasoningTokens,
    costUsd: run.cost_usd + (costUsd ?? 0),
    unpriced: run.unpriced_steps + (costUsd === null ? 1 : 0),
  };
}

const dropDeltas = prepared((db, value: Value<{ runId: string }>) =>
  db.deleteFrom('event_deltas').where('run_id', '=', value('runId')),
);

const updateRequest = prepared(
  (db, value: Value<{ model: string; request: string; outcome: string; at: string; runId: string; step: number }>) =>
    db
      .updateTable('requests')
      .set({
        model: value('model'),
        request_json: value('request'),
        outcome_json: value('outcome'),
        committed_at: value('at'),
      })
      .where('run_id', '=', value('runId'))
      .where('step', '=', value('step')),
);

const insertUsage = preparedInsert('usage');

const updateTotals = prepared((db, value: Value<Totals & { runId: string }>) =>
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
