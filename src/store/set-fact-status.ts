import { type Kysely, sql } from 'kysely';
import { type Database, guarded, timestamp } from './database.ts';
import { StoreError } from './errors.ts';
import type { FactRow, FactStatus } from './facts-port.ts';
import { toFactRow } from './read-facts.ts';
import type { FactsTable, Schema } from './schema.ts';

/** Fewer characters of an id are not taken for one: they could mean anything. */
const MIN_PREFIX = 4;

/** See {@link Store.setFactStatus}. */
export async function setFactStatus(
  database: Database,
  idOrPrefix: string,
  status: FactStatus,
): Promise<FactRow | undefined> {
  return await guarded(database, () =>
    database.writer.transaction().execute(async (trx) => {
      const row = await factNamed(trx, idOrPrefix);
      if (row === undefined) return undefined;
      const updated_at = timestamp(database);
      await trx.updateTable('facts').set({ status, updated_at }).where('fact_id', '=', row.fact_id).execute();
      return toFactRow({ ...row, status, updated_at });
    }),
  );
}

async function factNamed(trx: Kysely<Schema>, name: string): Promise<FactsTable | undefined> {
  const facts = trx.selectFrom('facts').selectAll();
  const exact = await facts.where('fact_id', '=', name).executeTakeFirst();
  if (exact !== undefined || name.length < MIN_PREFIX) return exact;
  const prefix = sql<boolean>`substr(fact_id, 1, ${sql.lit(name.length)}) = ${name}`;
  const [found, another] = await facts.where(prefix).limit(2).execute();
  if (another !== undefined) throw ambiguous(name);
  return found;
}

function ambiguous(name: string): StoreError {
  return new StoreError('InvalidInput', `Several facts have ids that begin with ${name}.`, 'Give more of the id.');
}
