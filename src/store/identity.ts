import type { Kysely } from 'kysely';
import { type Database, guarded } from './database.ts';
import { refused, storeMismatch } from './refusals.ts';
import type { Schema } from './schema.ts';
import type { StoreIdentity } from './store.ts';

export async function readIdentity(database: Database): Promise<StoreIdentity> {
  return await guarded(database, async () => {
    const rows = await database.writer.selectFrom('store_meta').selectAll().execute();
    const meta = new Map(rows.map((row) => [row.key, row.value]));
    const storeId = meta.get('store_id');
    if (storeId === undefined) throw refused(`The store ${database.location} has no id.`);
    return {
      storeId,
      schemaVersion: Number(meta.get('schema_version')),
      namespaceId: meta.get('namespace_id') ?? null,
      location: database.location,
    };
  });
}

/** See {@link Store.bindNamespace}. */
export async function bindNamespace(database: Database, namespaceId: string): Promise<void> {
  const bound = await guarded(database, () =>
    database.writer.transaction().execute(async (trx) => {
      await trx
        .insertInto('store_meta')
        .values({ key: 'namespace_id', value: namespaceId })
        .onConflict((conflict) => conflict.doNothing())
        .execute();
      return await namespaceOf(trx);
    }),
  );
  if (bound !== namespaceId) {
    throw storeMismatch(`The store ${database.location} belongs to the Temporal namespace ${bound}.`);
  }
}

async function namespaceOf(trx: Kysely<Schema>): Promise<string | undefined> {
  const row = await trx.selectFrom('store_meta').select('value').where('key', '=', 'namespace_id').executeTakeFirst();
  return row?.value;
}

/** Writes one row: proves that the store can be written, not only read. */
export async function touch(database: Database, at: string): Promise<void> {
  await guarded(database, () =>
    database.writer.transaction().execute((trx) =>
      trx
        .insertInto('store_meta')
        .values({ key: 'checked_at', value: at })
        .onConflict((conflict) => conflict.column('key').doUpdateSet({ value: at }))
        .execute(),
    ),
  );
}
