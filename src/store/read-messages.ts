import type { Kysely } from 'kysely';
import type { Schema } from './schema.ts';
import type { MessageOutcome } from './store.ts';

/** The terminal event at an index that was recorded as one. */
export async function eventAt(
  db: Kysely<Schema>,
  runId: string,
  index: number,
): Promise<MessageOutcome['event'] | undefined> {
  const row = await db
    .selectFrom('agent_events')
    .select('payload_json')
    .where('run_id', '=', runId)
    .where('index', '=', index)
    .executeTakeFirst();
  return row === undefined ? undefined : JSON.parse(row.payload_json);
}

export async function messageOutcome(
  db: Kysely<Schema>,
  sessionId: string,
  messageId: string,
): Promise<MessageOutcome | undefined> {
  const row = await db
    .selectFrom('messages')
    .innerJoin('agent_events', (join) =>
      join
        .onRef('agent_events.run_id', '=', 'messages.outcome_run_id')
        .onRef('agent_events.index', '=', 'messages.outcome_index'),
    )
    .select(['agent_events.run_id as runId', 'agent_events.payload_json as payload'])
    .where('messages.session_id', '=', sessionId)
    .where('messages.message_id', '=', messageId)
    .executeTakeFirst();
  return row === undefined ? undefined : { messageId, runId: row.runId, event: JSON.parse(row.payload) };
}

export async function runOfMessage(
  db: Kysely<Schema>,
  sessionId: string,
  messageId: string,
): Promise<string | undefined> {
  const row = await db
    .selectFrom('messages')
    .select('run_id')
    .where('session_id', '=', sessionId)
    .where('message_id', '=', messageId)
    .executeTakeFirst();
  return row?.run_id ?? undefined;
}
