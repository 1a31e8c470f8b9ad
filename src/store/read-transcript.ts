import type { Kysely } from 'kysely';
import type { RecordedEvent } from '../transcript/events.ts';
import type { TranscriptEntry } from '../transcript/items.ts';
import type { Schema } from './schema.ts';
import type { Store } from './store.ts';

/** See {@link Store.entries}. */
export async function entriesOf(
  db: Kysely<Schema>,
  sessionId: string,
  page: NonNullable<Parameters<Store['entries']>[1]>,
): Promise<readonly TranscriptEntry[]> {
  const rows = await db
    .selectFrom('transcript_items')
    .select(['seq', 'run_id', 'step', 'item_json'])
    .where('session_id', '=', sessionId)
    .where('superseded_by', 'is', null)
    .where('seq', '>', page.afterSeq ?? 0)
    .orderBy('seq')
    .$if(page.limit !== undefined, (query) => query.limit(page.limit ?? 0))
    .execute();
  return rows.map((row) => ({ seq: row.seq, runId: row.run_id, step: row.step, item: JSON.parse(row.item_json) }));
}

/** See {@link Store.events}. */
export async function eventsOf(
  db: Kysely<Schema>,
  runId: string,
  page: NonNullable<Parameters<Store['events']>[1]>,
): Promise<readonly RecordedEvent[]> {
  const rows = await db
    .selectFrom('agent_events')
    .select(['index', 'payload_json', 'created_at'])
    .where('run_id', '=', runId)
    .where('index', '>=', page.from ?? 0)
    .orderBy('index')
    .$if(page.limit !== undefined, (query) => query.limit(page.limit ?? 0))
    .execute();
  return rows.map((row) => ({
    schemaVersion: 1,
    runId,
    index: row.index,
    at: row.created_at,
    event: JSON.parse(row.payload_json),
  }));
}
