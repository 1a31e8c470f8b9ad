import type { AgentEvent } from '../transcript/events.ts';
import { appendEvents } from './append-events.ts';
import { appendItems } from './append-items.ts';
import { noteTaken } from './messages.ts';
import { closeOpenBatch } from './open-batch.ts';
import { prepared, preparedInsert, type Value } from './prepared.ts';
import { isClosed } from './run-state.ts';
import { type RunWrite, writeRun } from './run-write.ts';
import type { RequestsTable } from './schema.ts';
import type { SessionWrite } from './session-write.ts';
import type { BeginStep, BegunStep } from './store.ts';

/** See {@link Store.beginStep}. */
export async function beginStep(target: RunWrite, input: BeginStep): Promise<BegunStep> {
  return await writeRun(target, async (write, run) => {
    if (isClosed(run.status)) return { status: 'closed', head: write.lastSeq, runStatus: run.status };
    const request = await requestRow(write, input.ref.runId, input.step);
    if (request === undefined) {
      await begin(write, input);
      return { status: 'begun', head: write.lastSeq };
    }
    if (request.outcome_json !== null) {
      return { status: 'committed', head: write.lastSeq, outcome: JSON.parse(request.outcome_json) };
    }
    if (request.owner !== target.writer.owner || request.attempt < target.writer.attempt)
      await beginAgain(write, input);
    return { status: 'begun', head: write.lastSeq };
  });
}

export async function requestRow(
  write: SessionWrite,
  runId: string,
  step: number,
): Promise<Pick<RequestsTable, 'outcome_json' | 'attempt' | 'owner'> | undefined> {
  return (await requestOf(write.trx, { runId, step })).rows[0];
}

const requestOf = prepared((db, value: Value<{ runId: string; step: number }>) =>
  db
    .selectFrom('requests')
    .select(['outcome_json', 'attempt', 'owner'])
    .where('run_id', '=', value('runId'))
    .where('step', '=', value('step')),
);

const insertRequest = preparedInsert('requests');

async function begin(write: SessionWrite, input: BeginStep): Promise<void> {
  const { runId } = input.ref;
  await closeOpenBatch(write, input.settlement);
  await appendItems(write, { runId, step: input.step }, input.append);
  await appendEvents(write, runId, input.events);
  for (const messageId of input.joined) await noteTaken(write, runId, { messageId, mode: 'steer' });
  await insertRequest(write.trx, [
    {
      run_id: runId,
      step: input.step,
      session_id: write.writer.sessionId,
      owner: write.writer.owner,
      attempt: write.writer.attempt,
      head_at_begin: write.lastSeq,
      began_at: write.at,
      model: null,
      request_json: null,
      outcome_json: null,
      committed_at: null,
    },
  ]);
}

/** A later attempt: what the first one wrote stands; only its partial text is void, and readers are told so. */
async function beginAgain(write: SessionWrite, input: BeginStep): Promise<void> {
  const { runId } = input.ref;
  await write.trx
    .updateTable('requests')
    .set({ attempt: write.writer.attempt, owner: write.writer.owner })
    .where('run_id', '=', runId)
    .where('step', '=', input.step)
    .execute();
  await write.trx.deleteFrom('event_deltas').where('run_id', '=', runId).where('step', '=', input.step).execute();
  await appendEvents(write, runId, input.events.filter(isRestart));
}

function isRestart(event: AgentEvent): boolean {
  return event.type === 'model_attempt_restarted';
}
