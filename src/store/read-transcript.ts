import type { Kysely } from 'kysely';
import type { RecordedEvent } from '../transcript/events.ts';
import type { TranscriptEntry } from '../transcript/items.ts';
import { chunked } from './chunked.ts';
import { MAX_INTEGER } from './database.ts';
import { prepared, type Value } from './prepared.ts';
import type { Schema, TranscriptItemsTable } from './schema.ts';
import type { Store } from './store.ts';

/** See {@link Store.entries}. */
export async function entriesOf(
  db: Kysely<Schema>,
  sessionId: string,
  page: NonNullable<Parameters<Store['entries']>[1]>,
): Promise<readonly TranscriptEntry[]> {
  const { afterSeq = 0, limit = MAX_INTEGER } = page;
  const { rows } = await liveItems(db, { sessionId, afterSeq, limit });
  return rows.map(toEntry);
}

/** See {@link Store.entriesAt}. */
export async function entriesAt(
  db: Kysely<Schema>,
  sessionId: string,
  seqs: readonly number[],
): Promise<readonly TranscriptEntry[]> {
  const found: TranscriptEntry[] = [];
  const possible = seqs.filter((seq) => Number.isInteger(seq) && seq > 0 && seq <= MAX_INTEGER);
  for (const chunk of chunked([...new Set(possible)].toSorted((left, right) => left - right))) {
    const rows = await db
      .selectFrom('transcript_items')
      .select(['seq', 'run_id', 'step', 'item_json'])
      .where('session_id', '=', sessionId)
      .where('superseded_by', 'is', null)
      .where('seq', 'in', chunk)
      .orderBy('seq')
      .execute();
    found.push(...rows.map(toEntry));
  }
  return found;
}

function toEntry(row: Pick<TranscriptItemsTable, 'seq' | 'run_id' | 'step' | 'item_json'>): TranscriptEntry {
  return { seq: row.seq, runId: row.run_id, step: row.step, item: JSON.parse(row.item_json) };
}

/** See {@link Store.events}. */
export async function eventsOf(
  db: Kysely<Schema>,
  runId: string,
  page: NonNullable<Parameters<Store['events']>[1]>,
): Promise<readonly RecordedEvent[]> {
  const { from = 0, limit = MAX_INTEGER } = page;
  const { rows } = await indexedEvents(db, { runId, from, limit });
  return rows.map((row) => ({
    schemaVersion: 1,
    runId,
    index: row.index,
    at: row.created_at,
    event: JSON.parse(row.payload_json),
  }));
}

const liveItems = prepared((db, value: Value<{ sessionId: string; afterSeq: number; limit: number }>) =>
  db
    .selectFrom('transcript_items')
    .select(['seq', 'run_id', 'step', 'item_json'])
    .where('session_id', '=', value('sessionId'))
    .where('superseded_by', 'is', null)
    .where('seq', '>', value('afterSeq'))
    .orderBy('seq')
    .limit(value('limit')),
);

const indexedEvents = prepared((db, value: Value<{ runId: string; from: number; limit: number }>) =>
  db
    .selectFrom('agent_events')
    .select(['index', 'payload_json', 'created_at'])
    .where('run_id', '=', value('runId'))
    .where('index', '>=', value('from'))
    .orderBy('index')
    .limit(value('limit')),
);
