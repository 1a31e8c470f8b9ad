import { type AgentEvent, EVENT_SCHEMA_VERSION } from '../transcript/events.ts';
import { noteAsked, noteDecided } from './approval-rows.ts';
import { noteQueued } from './messages.ts';
import { prepared, preparedInsert, type Value } from './prepared.ts';
import type { SessionWrite } from './session-write.ts';

/**
 * Appends events at the run's next indices; returns the index of the last one (-1: there is none at all). Deltas have
 * their own place and are left out.
 */
export async function appendEvents(write: SessionWrite, runId: string, events: readonly AgentEvent[]): Promise<number> {
  const indexed = events.filter((event) => event.type !== 'assistant_text_delta' && event.type !== 'reasoning_delta');
  const last = await lastIndex(write, runId);
  if (indexed.length === 0) return last;
  await insertEvents(
    write.trx,
    indexed.map((event, offset) => ({
      run_id: runId,
      index: last + 1 + offset,
      event_type: event.type,
      schema_version: EVENT_SCHEMA_VERSION,
      payload_json: JSON.stringify(event),
      created_at: write.at,
    })),
  );
  write.news.add(runId);
  for (const event of indexed) {
    if (event.type === 'user_message_queued') await noteQueued(write, runId, event);
    else if (event.type === 'approval_requested') await noteAsked(write, runId, event);
    else if (event.type === 'approval_resolved') await noteDecided(write, runId, event);
  }
  return last + indexed.length;
}

async function lastIndex(write: SessionWrite, runId: string): Promise<number> {
  const [row] = (await lastEvent(write.trx, { runId })).rows;
  return row?.index ?? -1;
}

const lastEvent = prepared((db, value: Value<{ runId: string }>) =>
  db.selectFrom('agent_events').select('index').where('run_id', '=', value('runId')).orderBy('index', 'desc').limit(1),
);

const insertEvents = preparedInsert('agent_events');
