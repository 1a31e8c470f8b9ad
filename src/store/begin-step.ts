import type { AgentEvent } from '../transcript/events.ts';
import type { AgentItem } from '../transcript/items.ts';
import { appendEvents } from './append-events.ts';
import { appendItems } from './append-items.ts';
import { setStatus } from './approval-rows.ts';
import { noteTaken, takenBy } from './messages.ts';
import { closeOpenBatch } from './open-batch.ts';
import { prepared, type Value } from './prepared.ts';
import { isClosed, type Run } from './run-state.ts';
import { type RunWrite, writeRun } from './run-write.ts';
import type { RequestsTable } from './schema.ts';
import type { SessionWrite } from './session-write.ts';
import type { BeginStep, BegunStep, Writer } from './store.ts';
import { noteBranchTold, noteLateTold } from './told-rows.ts';

/**
 * See {@link Store.beginStep}. Does not wait for the disk: nothing outside knows of it before the step's response is
 * committed, which makes the log up to there durable, and a power cut in between leaves a step that begins anew.
 */
export async function beginStep(target: RunWrite, input: BeginStep): Promise<BegunStep> {
  return await writeRun(target, (write, run) => begunStep(write, run, target, input), { relaxed: true });
}

async function begunStep(write: SessionWrite, run: Run, target: RunWrite, input: BeginStep): Promise<BegunStep> {
  if (isClosed(run.status)) return { status: 'closed', head: write.lastSeq, runStatus: run.status };
  const request = await requestRow(write, input.ref.runId, input.step);
  if (request === undefined) {
    if (run.status === 'waiting') await setStatus(write, run.run_id, 'running');
    await begin(write, input);
    return { status: 'begun', head: write.lastSeq, revision: write.viewRevision };
  }
  if (request.outcome_json !== null) {
    return { status: 'committed', head: write.lastSeq, outcome: JSON.parse(request.outcome_json) };
  }
  if (!sameActivity(request, target.writer)) {
    await dropPartialText(write, input);
    await begin(write, input);
  } else if (request.attempt < target.writer.attempt) {
    await beginAgain(write, input);
  }
  return { status: 'begun', head: write.lastSeq, revision: write.viewRevision };
}

/**
 * Whether the step was begun by an earlier attempt of the writer's activity, which then wrote what this one would. An
 * activity of its own brings messages of its own: the step's first call may have ended without a response, to compact.
 */
function sameActivity(request: BegunRequest, writer: Writer): boolean {
  return request.owner === writer.owner && request.activity_id === writer.activityId;
}

type BegunRequest = Pick<RequestsTable, 'outcome_json' | 'attempt' | 'owner' | 'activity_id'>;

export async function requestRow(write: SessionWrite, runId: string, step: number): Promise<BegunRequest | undefined> {
  return (await requestOf(write.trx, { runId, step })).rows[0];
}

const requestOf = prepared((db, value: Value<{ runId: string; step: number }>) =>
  db
    .selectFrom('requests')
    .select(['outcome_json', 'attempt', 'owner', 'activity_id'])
    .where('run_id', '=', value('runId'))
    .where('step', '=', value('step')),
);

async function begin(write: SessionWrite, input: BeginStep): Promise<void> {
  const { runId } = input.ref;
  await closeOpenBatch(write, input.settlement);
  await appendItems(write, { runId, step: input.step }, await notTaken(write, runId, input.append));
  if (input.toldBranch !== undefined) await noteBranchTold(write, input.toldBranch);
  await appendEvents(write, runId, input.events);
  if (input.toldLate !== undefined) await noteLateTold(write, input.toldLate);
  for (const messageId of input.joined) await noteTaken(write, runId, { messageId, mode: 'steer' });
  const { owner, activityId, attempt, sessionId } = write.writer;
  const begun = { owner, activityId, attempt, head: write.lastSeq, at: write.at };
  await putRequest(write.trx, { runId, step: input.step, sessionId, ...begun });
}

/** A message is in the transcript once, however often it is handed in. */
async function notTaken(
  write: SessionWrite,
  runId: string,
  items: readonly AgentItem[],
): Promise<readonly AgentItem[]> {
  if (items.length === 0) return items;
  const taken = new Set(await takenBy(write, runId));
  return items.filter(
    (item) => item.kind !== 'user_message' || item.messageId === undefined || !taken.has(item.messageId),
  );
}

interface NewRequest {
  readonly runId: string;
  readonly step: number;
  readonly sessionId: string;
  readonly owner: string;
  readonly activityId: string;
  readonly attempt: number;
  readonly head: number;
  readonly at: string;
}

const putRequest = prepared((db, value: Value<NewRequest>) => {
  const begun = {
    owner: value('owner'),
    activity_id: value('activityId'),
    attempt: value('attempt'),
    head_at_begin: value('head'),
    began_at: value('at'),
  };
  return db
    .insertInto('requests')
    .values({ run_id: value('runId'), step: value('step'), session_id: value('sessionId'), ...begun })
    .onConflict((conflict) => conflict.columns(['run_id', 'step']).doUpdateSet(begun));
});

/** A later attempt: what the first one wrote stands; only its partial text is void, and readers are told so. */
async function beginAgain(write: SessionWrite, input: BeginStep): Promise<void> {
  const { runId } = input.ref;
  await write.trx
    .updateTable('requests')
    .set({ attempt: write.writer.attempt })
    .where('run_id', '=', runId)
    .where('step', '=', input.step)
    .execute();
  await dropPartialText(write, input);
  await appendEvents(write, runId, input.events.filter(isRestart));
}

async function dropPartialText({ trx }: SessionWrite, { ref, step }: BeginStep): Promise<void> {
  await trx.deleteFrom('event_deltas').where('run_id', '=', ref.runId).where('step', '=', step).execute();
}

function isRestart(event: AgentEvent): boolean {
  return event.type === 'model_attempt_restarted';
}
