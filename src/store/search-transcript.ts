import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { AgentItem } from '../transcript/items.ts';
import { caseFolded, holdsAll, wordsOf } from './case-fold.ts';
import { chunked } from './chunked.ts';
import type { TranscriptHit } from './compaction-port.ts';
import type { DatabaseKind } from './database.ts';
import { excerptOf } from './excerpt.ts';
import { likePattern } from './like-pattern.ts';
import type { Schema } from './schema.ts';
import { type SearchPiece, searchPieces } from './searchable-text.ts';
import type { Store } from './store.ts';
import { CHUNK_UNITS, readOutput } from './tool-output.ts';

/** Items read at a time. */
const PAGE = 200;

/**
 * See {@link Store.searchTranscript}. An entry is one hit, however often it matches. The database leaves out what cannot
 * match; what does is decided here, since no two databases fold case alike.
 */
export async function searchTranscript(
  db: Kysely<Schema>,
  kind: DatabaseKind,
  sessionId: string,
  query: string,
  { limit, beforeSeq }: Parameters<Store['searchTranscript']>[2],
): Promise<readonly TranscriptHit[]> {
  const words = wordsOf(query);
  const hits: TranscriptHit[] = [];
  if (words.length === 0) return hits;
  const search: Search = { db, kind, sessionId, words };
  let before = beforeSeq ?? Number.MAX_SAFE_INTEGER;
  for (;;) {
    const rows = await candidates(search, before);
    const outputs = await wholeOutputs(search, rows);
    for (const { seq, item } of rows) {
      const hit = hitIn(await piecesOf(search, item, outputs), words);
      if (hit !== undefined && hits.length < limit) hits.push({ seq, kind: item.kind, ...hit });
      if (hits.length >= limit) return hits;
    }
    before = rows.at(-1)?.seq ?? 0;
    if (rows.length < PAGE) return hits;
  }
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
    .where('seq', '<', Math.min(before, MAX_INTEGER))
    .where((row) => row.or([row('kind', '=', 'tool_result_batch'), row.and(matches(kind, 'item_json', words))]))
    .orderBy('seq', 'desc')
    .limit(PAGE);
  return (await query.execute()).map(({ seq, item_json }) => ({ seq, item: JSON.parse(item_json) }));
}

/** The largest value of an `integer` column in PostgreSQL. */
const MAX_INTEGER = 2_147_483_647;

function matches(kind: DatabaseKind, column: string, words: readonly string[]): readonly RawBuilder<boolean>[] {
  // SQLite's `like` takes no account of ASCII case, and has no `ilike`.
  const like = kind === 'postgres' ? sql`ilike` : sql`like`;
  return words
    .map(likePattern)
    .filter((pattern) => pattern !== undefined)
    .map((pattern) => sql<boolean>`${sql.ref(column)} ${like} ${pattern} escape '\\'`);
}

/** Whole outputs by call: the text, or `long` for one of several pieces, which is read when its turn comes. */
type Outputs = ReadonlyMap<string, { readonly text: string } | 'long' | 'no match'>;

async function wholeOutputs(search: Search, rows: readonly Candidate[]): Promise<Outputs> {
  const { db, kind, sessionId, words } = search;
  const outputs = new Map<string, { readonly text: string } | 'long' | 'no match'>();
  for (const callIds of chunked(rows.flatMap(({ item }) => resultIds(item)))) {
    const calls = await db
      .selectFrom('tool_calls')
      .select(['call_id', 'output_units'])
      .where('session_id', '=', sessionId)
      .where('call_id', 'in', callIds)
      .where('output_units', 'is not', null)
      .execute();
    for (const { call_id, output_units } of calls) {
      outputs.set(call_id, (output_units ?? 0) > CHUNK_UNITS ? 'long' : 'no match');
    }
    const short = calls.filter(({ call_id }) => outputs.get(call_id) === 'no match').map(({ call_id }) => call_id);
    if (short.length === 0) continue;
    const patterns = matches(kind, 'text_json', words);
    const found = await db
      .selectFrom('tool_outputs')
      .select(['call_id', 'text_json'])
      .where('session_id', '=', sessionId)
      .where('call_id', 'in', short)
      // Another word may stand in another result of the batch.
      .$if(patterns.length === words.length, (query) => query.where((row) => row.or(patterns)))
      .execute();
    for (const { call_id, text_json } of found) outputs.set(call_id, { text: JSON.parse(text_json) });
  }
  return outputs;
}

function resultIds(item: AgentItem): readonly string[] {
  return item.kind === 'tool_result_batch' ? item.results.map(({ callId }) => callId) : [];
}

/** The pieces of an item, a result's whole output in the place of the cut that the model was shown. */
async function piecesOf({ db, sessionId }: Search, item: AgentItem, outputs: Outputs): Promise<readonly SearchPiece[]> {
  const pieces: SearchPiece[] = [];
  for (const piece of searchPieces(item)) {
    const output = piece.callId === undefined ? undefined : outputs.get(piece.callId);
    if (piece.callId === undefined || output === undefined) pieces.push(piece);
    else if (output === 'long') {
      const whole = await readOutput(db, sessionId, piece.callId, { start: 0, end: Number.MAX_SAFE_INTEGER });
      pieces.push({ callId: piece.callId, text: whole?.text ?? piece.text });
    } else if (output !== 'no match') pieces.push({ callId: piece.callId, text: output.text });
  }
  return pieces;
}

/** The piece that holds all words, or else, where the item as a whole does, the first that holds one. */
function hitIn(
  pieces: readonly SearchPiece[],
  words: readonly string[],
): Pick<TranscriptHit, 'excerpt' | 'callId'> | undefined {
  const folded = pieces.map((piece) => ({ ...piece, folded: caseFolded(piece.text) }));
  if (!words.every((word) => folded.some((piece) => piece.folded.includes(word)))) return undefined;
  const shown =
    folded.find((piece) => holdsAll(piece.folded, words)) ??
    folded.find((piece) => words.some((word) => piece.folded.includes(word)));
  if (shown === undefined) return undefined;
  const { callId, text } = shown;
  return { excerpt: excerptOf(text, words), ...(callId === undefined ? {} : { callId }) };
}
