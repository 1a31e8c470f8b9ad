import { randomUUID } from 'node:crypto';
import type { Database } from './database.ts';
import { readIdentity } from './identity.ts';
import { migrate } from './migrations.ts';
import { isPostgresUrl, openPostgres } from './postgres.ts';
import { createStore } from './sql-store.ts';
import { openSqlite } from './sqlite.ts';
import { translateSqlite } from './sqlite-errors.ts';
import type { Store } from './store.ts';

export interface OpenStoreOptions {
  /** Milliseconds since the epoch; default `Date.now`. */
  readonly now?: () => number;
  /** SQLite: how long a write waits for another process's lock. Milliseconds; default 10,000. */
  readonly busyTimeoutMs?: number;
  /** SQLite: upper bound of the file in pages of 4 KiB; default none. */
  readonly maxPages?: number;
  /** PostgreSQL: upper bound of open connections of this process; default 10. */
  readonly maxConnections?: number;
}

/**
 * Opens a store, makes it where it is missing (a SQLite file's folder too, with mode 0700), and brings it to this
 * release's schema.
 *
 * @param location path of a SQLite file, or `postgres://…`.
 * @throws StoreError `StoreUnavailable`, `StoreTooNew`.
 */
export async function openStore(location: string, options: OpenStoreOptions = {}): Promise<Store> {
  const database = await openDatabase(location, options);
  try {
    return createStore(database, (await readIdentity(database)).storeId);
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** An open, migrated database. */
export async function openDatabase(location: string, options: OpenStoreOptions): Promise<Database> {
  const database = await connect(location, options);
  try {
    await migrate(database, randomUUID());
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}

async function connect(location: string, options: OpenStoreOptions): Promise<Database> {
  const { now = Date.now, busyTimeoutMs = 10_000, maxPages, maxConnections = 10 } = options;
  if (isPostgresUrl(location)) return openPostgres(location, { now, maxConnections });
  try {
    return await openSqlite(location, { now, busyTimeoutMs, ...(maxPages === undefined ? {} : { maxPages }) });
  } catch (error) {
    throw translateSqlite(error, location);
  }
}
