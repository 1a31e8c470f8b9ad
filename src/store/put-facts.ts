import type { Kysely } from 'kysely';
import { chunked } from './chunked.ts';
import { type Database, guarded, timestamp } from './database.ts';
import type { FactRow, NewFact } from './facts-port.ts';
import { toFactRow } from './read-facts.ts';
import { storable } from './readable-text.ts';
import { notFound } from './refusals.ts';
import type { FactsTable, Schema } from './schema.ts';

/** In which session facts were learnt, and when. */
interface Place {
  readonly sessionId: string;
  /** ISO 8601 UTC. */
  readonly at: string;
}

/** See {@link Store.putFacts}. */
export async function putFacts(
  database: Database,
  sessionId: string,
  facts: readonly NewFact[],
): Promise<readonly FactRow[]> {
  if (facts.length === 0) return [];
  return await guarded(database, () =>
    database.writer.transaction().execute(async (trx) => {
      await insertFacts(trx, { sessionId, at: timestamp(database) }, facts);
      return await factsById(
        trx,
        facts.map((fact) => fact.factId),
      );
    }),
  );
}

/** Adds facts that are new, and frees quarantined ones that a person or a rule vouches for. */
export async function insertFacts(trx: Kysely<Schema>, place: Place, facts: readonly NewFact[]): Promise<void> {
  if (facts.length === 0) return;
  const session = await trx
    .selectFrom('sessions')
    .select('session_id')
    .where('session_id', '=', place.sessionId)
    .executeTakeFirst();
  if (session === undefined && facts.some(({ scope }) => scope === 'session')) {
    throw notFound(`There is no session ${place.sessionId} in this store.`);
  }
  const rows = distinct(facts).map((fact) => newRow(fact, session?.session_id ?? null, place.at));
  for (const chunk of chunked(rows)) {
    await trx
      .insertInto('facts')
      .values(chunk)
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  }
  for (const fact of facts) if (vouched(fact)) await free(trx, fact, place.at);
}

/** One row an id, in the order of ids: writers that meet on the workspace's facts then never wait in a circle. */
function distinct(facts: readonly NewFact[]): readonly NewFact[] {
  const byId = new Map(facts.toReversed().map((fact) => [fact.factId, fact]));
  return [...byId.values()].toSorted((left, right) => (left.factId < right.factId ? -1 : 1));
}

function newRow(fact: NewFact, sessionId: string | null, at: string): FactsTable {
  return {
    fact_id: fact.factId,
    session_id: sessionId,
    scope: fact.scope,
    kind: fact.kind,
    text: storable(fact.text),
    source_seq: fact.sourceSeq,
    source_json: JSON.stringify(fact.source),
    status: fact.status,
    created_at: at,
    updated_at: at,
  };
}

/** What a model says may be an echo of a tool's output: it frees nothing, and neither does a tool. */
const NO_VOUCHERS: ReadonlySet<unknown> = new Set(['assistant', 'tool']);

function vouched({ status, source }: NewFact): boolean {
  return status === 'active' && !NO_VOUCHERS.has(source.origin);
}

async function free(trx: Kysely<Schema>, fact: NewFact, at: string): Promise<void> {
  await trx
    .updateTable('facts')
    .set({
      status: 'active',
      source_seq: fact.sourceSeq,
      source_json: JSON.stringify(fact.source),
      updated_at: at,
    })
    .where('fact_id', '=', fact.factId)
    .where('status', '=', 'quarantined')
    .execute();
}

/** As they are stored, in the order asked for. */
async function factsById(trx: Kysely<Schema>, ids: readonly string[]): Promise<readonly FactRow[]> {
  const found = new Map<string, FactRow>();
  for (const chunk of chunked(ids)) {
    const rows = await trx.selectFrom('facts').selectAll().where('fact_id', 'in', chunk).execute();
    for (const row of rows) found.set(row.fact_id, toFactRow(row));
  }
  return [...new Set(ids)].flatMap((id) => found.get(id) ?? []);
}
