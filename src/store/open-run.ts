import type { AgentEvent } from '../transcript/events.ts';
import type { ContentBlock } from '../transcript/items.ts';
import { preview } from '../transcript/preview.ts';
import { appendEvents } from './append-events.ts';
import { appendItems } from './append-items.ts';
import type { Database } from './database.ts';
import { healSession } from './heal.ts';
import { noteTaken } from './messages.ts';
import { messageOutcome, runOfMessage } from './read-messages.ts';
import { textOf } from './readable-text.ts';
import { refused } from './refusals.ts';
import { checkStore, isClosed, runById } from './run-state.ts';
import type { AgentRunsTable } from './schema.ts';
import { type SessionWrite, writeSession } from './session-write.ts';
import type { AcceptedMessage, MessageOutcome, OpenedRun, OpenRun, Writer } from './store.ts';
import { supersede } from './supersede.ts';

/** See {@link Store.openRun}. */
export async function openRun(database: Database, storeId: string, writer: Writer, input: OpenRun): Promise<OpenedRun> {
  checkStore(storeId, input.storeId);
  // A run that only compacts needs a session that is there.
  const create = input.message !== undefined;
  return await writeSession(database, writer, (write) => opened(write, storeId, input), { create });
}

async function opened(write: SessionWrite, storeId: string, input: OpenRun): Promise<OpenedRun> {
  const known = await runById(write, input.runId);
  if (known !== undefined) {
    if (known.session_id !== write.writer.sessionId) {
      throw refused(`Run ${input.runId} is of session ${known.session_id}.`);
    }
    return isClosed(known.status)
      ? { status: 'closed', storeId, head: write.lastSeq, runStatus: known.status }
      : { status: 'open', storeId, head: write.lastSeq };
  }
  const { message } = input;
  if (input.reset === true && write.tookOver && message !== undefined) await supersedeAnswer(write, message);
  const before = message === undefined ? undefined : await endOf(write, message);
  if (before !== undefined) return { status: 'ended', storeId, head: write.lastSeq, outcome: before };

  await healSession(write, new Set([message, ...input.queued].flatMap((each) => each?.messageId ?? [])));
  const healed = message === undefined ? undefined : await endOf(write, message);
  if (healed !== undefined) return { status: 'ended', storeId, head: write.lastSeq, outcome: healed };

  await insertRun(write, input);
  if (message !== undefined) await takeIn(write, input.runId, message);
  await appendEvents(write, input.runId, openingEvents(input));
  return { status: 'open', storeId, head: write.lastSeq };
}

/** A reset to before its run began: the message is answered anew, by another run. */
async function supersedeAnswer(write: SessionWrite, { messageId }: AcceptedMessage): Promise<void> {
  const runId = await runOfMessage(write.trx, write.writer.sessionId, messageId);
  const run = runId === undefined ? undefined : await runById(write, runId);
  if (run === undefined) return;
  const first = await write.trx
    .selectFrom('transcript_items')
    .select('seq')
    .where('run_id', '=', run.run_id)
    .where('superseded_by', 'is', null)
    .orderBy('seq')
    .limit(1)
    .executeTakeFirst();
  await supersede(write, run, (first?.seq ?? write.lastSeq + 1) - 1, { answered: -1 });
}

async function endOf(write: SessionWrite, { messageId }: AcceptedMessage): Promise<MessageOutcome | undefined> {
  return await messageOutcome(write.trx, write.writer.sessionId, messageId);
}

async function takeIn(write: SessionWrite, runId: string, message: AcceptedMessage): Promise<void> {
  const { messageId, content } = message;
  await noteTaken(write, runId, message);
  if (write.title === '') write.title = titleOf(content);
  const item = { kind: 'user_message', schemaVersion: 1, messageId, origin: 'user', content } as const;
  await appendItems(write, { runId, step: 0 }, [item]);
}

/** First line of a session's first message. */
export function titleOf(content: readonly ContentBlock[]): string {
  return preview(textOf(content).trimStart().split('\n', 1)[0] ?? '');
}

/** A run that only compacts answers no message: its own id stands in the place of one. */
function openingEvents({ runId, message, agent, model, queued }: OpenRun): readonly AgentEvent[] {
  const prompt = message === undefined ? '' : textOf(message.content);
  return [
    { type: 'run_started', messageId: message?.messageId ?? runId, agent, model, prompt },
    ...queued.map(
      ({ messageId, mode, content }): AgentEvent => ({
        type: 'user_message_queued',
        messageId,
        mode,
        preview: preview(textOf(content)),
      }),
    ),
  ];
}

/** What writing the row of a run needs to know of its transaction. */
type RowWrite = Pick<SessionWrite, 'trx' | 'at'> & { readonly writer: Pick<Writer, 'sessionId' | 'owner'> };

/** Writes the row of a run under which items stand that no model said here, such as imported ones: it is over at once. */
export async function insertFinishedRun(
  write: RowWrite,
  { runId, agent, config }: Pick<OpenRun, 'runId' | 'agent' | 'config'>,
): Promise<void> {
  await insertRun(write, { runId, agent, model: '', config }, { status: 'completed', completed_at: write.at });
}

async function insertRun(
  write: RowWrite,
  input: Pick<OpenRun, 'runId' | 'agent' | 'model' | 'config'>,
  state: Pick<AgentRunsTable, 'status' | 'completed_at'> = { status: 'running', completed_at: null },
): Promise<void> {
  const { sessionId, owner } = write.writer;
  const last = await write.trx
    .selectFrom('agent_runs')
    .select('run_number')
    .where('session_id', '=', sessionId)
    .orderBy('run_number', 'desc')
    .limit(1)
    .executeTakeFirst();
  await write.trx
    .insertInto('agent_runs')
    .values({
      run_id: input.runId,
      session_id: sessionId,
      run_number: (last?.run_number ?? 0) + 1,
      ...state,
      agent: input.agent,
      model: input.model,
      owner,
      started_at: write.at,
      config_json: JSON.stringify(input.config),
      steps: 0,
      input_tokens: 0,
      output_tokens: 0,
      cache_read_tokens: 0,
      cache_write_tokens: 0,
      reasoning_tokens: 0,
      cost_usd: 0,
      unpriced_steps: 0,
      final_index: null,
    })
    .execute();
}
