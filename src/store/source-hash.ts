import { createHash } from 'node:crypto';
import type { Kysely } from 'kysely';
import { prepared, type Value } from './prepared.ts';
import type { Schema } from './schema.ts';

/** Items read at a time. */
const PAGE = 500;

/** See {@link Store.sourceHash}. */
export async function sourceHashOf(
  db: Kysely<Schema>,
  sessionId: string,
  fromSeq: number,
  toSeq: number,
): Promise<string> {
  const hash = createHash('sha256');
  for (let after = fromSeq - 1; after < toSeq; ) {
    const { rows } = await itemsBetween(db, { sessionId, after, toSeq });
    // JSON has no line ends of its own, so no two lists of items read the same.
    for (const { seq, item_json } of rows) hash.update(`${seq} ${item_json}\n`);
    after = rows.length < PAGE ? toSeq : (rows.at(-1)?.seq ?? toSeq);
  }
  return hash.digest('hex');
}

const itemsBetween = prepared((db, value: Value<{ sessionId: string; after: number; toSeq: number }>) =>
  db
    .selectFrom('transcript_items')
    .select(['seq', 'item_json'])
    .where('session_id', '=', value('sessionId'))
    .where('superseded_by', 'is', null)
    .where('seq', '>', value('after'))
    .where('seq', '<=', value('toSeq'))
    .orderBy('seq')
    .limit(PAGE),
);
