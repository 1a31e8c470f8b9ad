import type { Kysely } from 'kysely';
import type { Schema } from './schema.ts';

/** UTF-16 units in a stored piece of an output. Ranges are counted in these units, which no database counts in. */
export const CHUNK_UNITS = 65_536;

/** Stores the whole output of a call in pieces; as JSON strings, since outputs may hold NUL and halves of pairs. */
export async function saveOutput(trx: Kysely<Schema>, sessionId: string, callId: string, text: string): Promise<void> {
  for (let chunk = 0; chunk * CHUNK_UNITS < text.length; chunk += 1) {
    const piece = text.slice(chunk * CHUNK_UNITS, (chunk + 1) * CHUNK_UNITS);
    await trx
      .insertInto('tool_outputs')
      .values({ session_id: sessionId, call_id: callId, chunk, text_json: JSON.stringify(piece) })
      .execute();
  }
}

/** Reads no more pieces than the range touches. The range is cut to what there is. */
export async function readOutput(
  db: Kysely<Schema>,
  sessionId: string,
  callId: string,
  range: { readonly start: number; readonly end: number },
): Promise<{ readonly text: string; readonly total: number } | undefined> {
  const call = await db
    .selectFrom('tool_calls')
    .select('output_units')
    .where('session_id', '=', sessionId)
    .where('call_id', '=', callId)
    .executeTakeFirst();
  if (call === undefined || call.output_units === null) return undefined;
  const total = call.output_units;
  const start = Math.min(Math.max(0, Math.trunc(range.start)), total);
  const end = Math.min(Math.max(start, Math.trunc(range.end)), total);
  if (start === end) return { text: '', total };
  const first = Math.floor(start / CHUNK_UNITS);
  const rows = await db
    .selectFrom('tool_outputs')
    .select('text_json')
    .where('session_id', '=', sessionId)
    .where('call_id', '=', callId)
    .where('chunk', '>=', first)
    .where('chunk', '<=', Math.floor((end - 1) / CHUNK_UNITS))
    .orderBy('chunk')
    .execute();
  const pieces = rows.map((row): string => JSON.parse(row.text_json));
  return { text: pieces.join('').slice(start - first * CHUNK_UNITS, end - first * CHUNK_UNITS), total };
}
