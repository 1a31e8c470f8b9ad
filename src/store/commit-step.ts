import { appendEvents } from './append-events.ts';
import { appendItems } from './append-items.ts';
import { requestRow } from './begin-step.ts';
import { settleBudget } from './budgets.ts';
import { saveCalibration } from './calibration.ts';
import { prepared, type Value } from './prepared.ts';
import { refused } from './refusals.ts';
import { isClosed, type Run } from './run-state.ts';
import { addToTotals } from './run-totals.ts';
import { type RunWrite, writeRun } from './run-write.ts';
import type { SessionWrite } from './session-write.ts';
import type { CommitStep, CommittedStep } from './store.ts';
import { insertUsage } from './usage-rows.ts';

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
  const { usage, costUsd, model, calibration, budget } = input;
  await insertUsage(write, [{ runId, step: input.step, purpose: 'step', model, usage, costUsd }]);
  await addToTotals(write, run, { steps: 1, spent: [{ usage, costUsd }] });
  if (budget !== undefined) await settleBudget(write, { runId, step: input.step, purpose: 'step' }, budget);
  // Last: its row is shared by all sessions, and held until the commit.
  if (calibration !== undefined) await saveCalibration(write, calibration);
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
