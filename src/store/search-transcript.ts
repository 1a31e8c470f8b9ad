import { setImmediate } from 'node:timers/promises';
import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { AgentItem } from '../transcript/items.ts';
import { caseFolded, holdsAll, wordsOf } from './case-fold.ts';
import { chunked } from './chunked.ts';
import type { TranscriptHit } from './compaction-port.ts';
import { type DatabaseKind, MAX_INTEGER } from './database.ts';
import { excerptOf } from './excerpt.ts';
import { likePattern } from './like-pattern.ts';
import type { Schema } from './schema.ts';
import { searchUnits } from './searchable-text.ts';
import type { Store } from './store.ts';
import { CHUNK_UNITS, readOutput } from './tool-output.ts';

/** Items read at a time. */
const PAGE = 200;

/**
 * See {@link Store.searchTranscript}. The database leaves out what cannot match; what does is decided here, since no two
 * databases fold case alike.
 */
export async function searchTranscript(
  db: Kysely<Schema>,
  kind: DatabaseKind,
  sessionId: string,
  query: string,
  { limit, beforeSeq }: Parameters<Store['searchTranscript']>[2],
): Promise<readonly TranscriptHit[]> {
  const search: Search = { db, kind, sessionId, words: wordsOf(query) };
  const hits: TranscriptHit[] = [];
  let before = Math.min(beforeSeq ?? MAX_INTEGER, MAX_INTEGER);
  while (search.words.length > 0 && hits.length < limit) {
    const rows = await candidates(search, before);
    const outputs = await wholeOutputs(search, rows);
    for (const row of rows) {
      if (hits.length < limit) hits.push(...(await hitsIn(search, row, outputs)));
    }
    before = rows.at(-1)?.seq ?? 0;
    if (rows.length < PAGE) break;
    // SQLite answers at once: heartbeats and other calls of the process get their turn here.
    await setImmediate();
  }
  return hits.slice(0, limit);
}

interface Search {
  readonly db: Kysely<Schema>;
  readonly kind: DatabaseKind;
  readonly sessionId: string;
  readonly words: readonly string[];
}

interface Candidate {
  readonly seq: number;
  readonly item: AgentItem;
}

/** Items that may match, newest first: those whose JSON may, and results that may have a longer output elsewhere. */
async function candidates({ db, kind, sessionId, words }: Search, before: number): Promise<readonly Candidate[]> {
  const query = db
    .selectFrom('transcript_items')
    .select(['seq', 'item_json'])
    .where('session_id', '=', sessionId)
    .where('superseded_by', 'is', null)
    .where('seq', '<', before)
    .where((row) => row.or([row('kind', '=', 'tool_result_batch'), row.and(matches(kind, 'item_json', words))]))
    .orderBy('seq', 'desc')
    .limit(PAGE);
  return (await query.execute()).map(({ seq, item_json }) => ({ seq, item: JSON.parse(item_json) }));
}

function matches(kind: DatabaseKind, column: string, words: readonly string[]): readonly RawBuilder<boolean>[] {
  // SQLite's `like` takes no account of ASCII case, and has no `ilike`.
  const like = kind === 'postgres' ? sql`ilike` : sql`like`;
  return words
    .map(likePattern)
    .filter((pattern) => pattern !== undefined)
    .map((pattern) => sql<boolean>`${sql.ref(column)} ${like} ${pattern} escape '\\'`);
}

/** A whole output: its text where it may match, `long` where it is in several pieces, which are read in their turn. */
type Output = { readonly text: string } | 'long' | 'no match';

/** Whole outputs of these items, by call. */
async function wholeOutputs(search: Search, rows: readonly Candidate[]): Promise<ReadonlyMap<string, Output>> {
  const { db, kind, sessionId, words } = search;
  const outputs = new Map<string, Output>();
  for (const callIds of chunked(rows.flatMap(({ item }) => resultIds(item)))) {
    const calls = await db
      .selectFrom('tool_calls')
      .select(['call_id', 'output_units'])
      .where('session_id', '=', sessionId)
      .where('call_id', 'in', callIds)
      .where('output_units', 'is not', null)
      .execute();
    for (const call of calls) outputs.set(call.call_id, isLong(call.output_units) ? 'long' : 'no match');
    const short = calls.filter((call) => !isLong(call.output_units)).map(({ call_id }) => call_id);
    if (short.length === 0) continue;
    const found = await db
      .selectFrom('tool_outputs')
      .select(['call_id', 'text_json'])
      .where('session_id', '=', sessionId)
      .where('call_id', 'in', short)
      .where((row) => row.and(matches(kind, 'text_json', words)))
      .execute();
    for (const { call_id, text_json } of found) outputs.set(call_id, { text: JSON.parse(text_json) });
  }
  return outputs;
}

/** A word may stand across the border of two pieces, so the database cannot look. */
function isLong(units: number | null): boolean {
  return (units ?? 0) > CHUNK_UNITS;
}

function resultIds(item: AgentItem): readonly string[] {
  return item.kind === 'tool_result_batch' ? item.results.map(({ callId }) => callId) : [];
}

/** The hits of one item, in the order of its results; a whole output stands for the cut that the model was shown. */
async function hitsIn(
  { db, sessionId, words }: Search,
  { seq, item }: Candidate,
  outputs: ReadonlyMap<string, Output>,
): Promise<readonly TranscriptHit[]> {
  const hits: TranscriptHit[] = [];
  for (const unit of searchUnits(item)) {
    const { callId } = unit;
    const output = callId === undefined ? undefined : outputs.get(callId);
    if (output === 'no match') continue;
    const whole =
      output === 'long' && callId !== undefined ? await readOutput(db, sessionId, callId, EVERYTHING) : undefined;
    const text = whole?.text ?? (typeof output === 'object' ? output.text : unit.text);
    if (!holdsAll(caseFolded(text), words)) continue;
    const excerpt = excerptOf(text, words);
    hits.push({ seq, kind: item.kind, excerpt, ...(callId === undefined ? {} : { callId }) });
  }
  return hits;
}

const EVERYTHING = { start: 0, end: Number.MAX_SAFE_INTEGER };
