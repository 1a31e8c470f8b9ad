import { type Kysely, sql } from 'kysely';
import { type Database, type DatabaseKind, guarded } from './database.ts';
import { StoreError } from './errors.ts';
import { createFirstSchema } from './migration-1.ts';
import { addSupersededRows } from './migration-2.ts';
import type { Schema } from './schema.ts';

/** Steps from schema version n to n + 1. Released ones are never changed; each must keep every row readable. */
const MIGRATIONS: readonly ((trx: Kysely<Schema>, kind: DatabaseKind) => Promise<void>)[] = [
  createFirstSchema,
  addSupersededRows,
];

/**
 * The version that this release reads and writes.
 *
 * - 1: first version.
 * - 2: `superseded_rows`, and which calls of a superseded branch the model was told of.
 */
export const STORE_SCHEMA_VERSION: number = MIGRATIONS.length;

/** PostgreSQL advisory lock under which one process migrates; any number that nobody else uses. */
const MIGRATION_LOCK = 7_305_812_001;

/**
 * Brings the database to this release's schema in one transaction; processes that start together do it once.
 *
 * @throws StoreError `StoreTooNew` when a later release wrote it.
 */
export async function migrate(database: Database, storeId: string): Promise<void> {
  await guarded(database, async () => {
    if ((await schemaVersion(database.writer, database.kind)) === STORE_SCHEMA_VERSION) return;
    await database.writer.transaction().execute(async (trx) => {
      if (database.kind === 'postgres') await sql`select pg_advisory_xact_lock(${MIGRATION_LOCK})`.execute(trx);
      const version = await schemaVersion(trx, database.kind);
      if (version > STORE_SCHEMA_VERSION) throw tooNew(database.location, version);
      for (const step of MIGRATIONS.slice(version)) await step(trx, database.kind);
      if (version === 0) await trx.insertInto('store_meta').values({ key: 'store_id', value: storeId }).execute();
      await recordVersion(trx);
    });
  });
}

async function recordVersion(trx: Kysely<Schema>): Promise<void> {
  const value = String(STORE_SCHEMA_VERSION);
  await trx
    .insertInto('store_meta')
    .values({ key: 'schema_version', value })
    .onConflict((conflict) => conflict.column('key').doUpdateSet({ value }))
    .execute();
}

/** 0 for a database without our tables. */
async function schemaVersion(db: Kysely<Schema>, kind: DatabaseKind): Promise<number> {
  if (!(await hasTables(db, kind))) return 0;
  const row = await db.selectFrom('store_meta').select('value').where('key', '=', 'schema_version').executeTakeFirst();
  return Number(row?.value ?? 0);
}

async function hasTables(db: Kysely<Schema>, kind: DatabaseKind): Promise<boolean> {
  const query =
    kind === 'sqlite'
      ? sql<{ found: number }>`select count(*) as found from sqlite_master where type = 'table' and name = 'store_meta'`
      : sql<{ found: number }>`select count(*) as found from pg_catalog.pg_class
          where oid = to_regclass('store_meta') and relkind = 'r'`;
  const { rows } = await query.execute(db);
  return Number(rows[0]?.found ?? 0) > 0;
}

function tooNew(location: string, version: number): StoreError {
  return new StoreError(
    'StoreTooNew',
    `The store ${location} has schema ${version}; this release knows schemas up to ${STORE_SCHEMA_VERSION}.`,
    'Upgrade holdfast, or open the store with the release that wrote it.',
  );
}
