import type { SessionWrite } from './session-write.ts';
import type { AcceptedMessage } from './store.ts';

type Waiting = Pick<AcceptedMessage, 'messageId' | 'mode'>;

/** Remembers that a message waits behind `runId`. One that was taken in, or has ended, stays as it is. */
export async function noteQueued(write: SessionWrite, runId: string, message: Waiting): Promise<void> {
  await write.trx
    .insertInto('messages')
    .values({ ...newMessage(write, runId, message), run_id: null })
    .onConflict((conflict) =>
      conflict
        .columns(['session_id', 'message_id'])
        .doUpdateSet({ queued_run_id: runId })
        .where('messages.run_id', 'is', null)
        .where('messages.outcome_run_id', 'is', null),
    )
    .execute();
}

/** Remembers that `runId` took the message in, and will end it. */
export async function noteTaken(write: SessionWrite, runId: string, message: Waiting): Promise<void> {
  await write.trx
    .insertInto('messages')
    .values({ ...newMessage(write, runId, message), run_id: runId })
    .onConflict((conflict) => conflict.columns(['session_id', 'message_id']).doUpdateSet({ run_id: runId }))
    .execute();
}

/** Which of `messageIds` have not ended yet, in the order given, without repeats; unknown ones count as open. */
export async function unended(write: SessionWrite, messageIds: readonly string[]): Promise<readonly string[]> {
  const ids = [...new Set(messageIds)];
  if (ids.length === 0) return [];
  const ended = await write.trx
    .selectFrom('messages')
    .select('message_id')
    .where('session_id', '=', write.writer.sessionId)
    .where('message_id', 'in', ids)
    .where('outcome_run_id', 'is not', null)
    .execute();
  const gone = new Set(ended.map((row) => row.message_id));
  return ids.filter((id) => !gone.has(id));
}

/** Messages that the run took in and that have not ended, oldest first. */
export async function takenBy(write: SessionWrite, runId: string): Promise<readonly string[]> {
  const rows = await write.trx
    .selectFrom('messages')
    .select('message_id')
    .where('run_id', '=', runId)
    .where('outcome_run_id', 'is', null)
    .orderBy('accepted_at')
    .orderBy('message_id')
    .execute();
  return rows.map((row) => row.message_id);
}

/** Messages of the session that wait for a run to take them in, by the run they were last known to wait behind. */
export async function waitingMessages(
  write: SessionWrite,
): Promise<readonly { readonly messageId: string; readonly queuedRunId: string }[]> {
  const rows = await write.trx
    .selectFrom('messages')
    .select(['message_id', 'queued_run_id'])
    .where('session_id', '=', write.writer.sessionId)
    .where('outcome_run_id', 'is', null)
    .where('run_id', 'is', null)
    .orderBy('accepted_at')
    .orderBy('message_id')
    .execute();
  return rows.map((row) => ({ messageId: row.message_id, queuedRunId: row.queued_run_id }));
}

/** Writes the event at `index` of `runId` as the end of these messages. The first end of a message stays. */
export async function endMessages(
  write: SessionWrite,
  runId: string,
  index: number,
  messageIds: readonly string[],
): Promise<void> {
  for (const messageId of messageIds) {
    await write.trx
      .insertInto('messages')
      .values({
        ...newMessage(write, runId, { messageId, mode: 'follow_up' }),
        run_id: null,
        outcome_run_id: runId,
        outcome_index: index,
      })
      .onConflict((conflict) =>
        conflict
          .columns(['session_id', 'message_id'])
          .doUpdateSet({ outcome_run_id: runId, outcome_index: index })
          .where('messages.outcome_run_id', 'is', null),
      )
      .execute();
  }
}

function newMessage(write: SessionWrite, runId: string, message: Waiting) {
  return {
    session_id: write.writer.sessionId,
    message_id: message.messageId,
    mode: message.mode,
    queued_run_id: runId,
    accepted_at: write.at,
    outcome_run_id: null,
    outcome_index: null,
  };
}
