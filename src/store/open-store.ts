import { randomUUID } from 'node:crypto';
import { guarded } from './database.ts';
import { readIdentity } from './identity.ts';
import { migrate } from './migrations.ts';
import { createStore } from './sql-store.ts';
import { openSqlite } from './sqlite.ts';
import { translateSqlite } from './sqlite-errors.ts';
import type { Store } from './store.ts';

export interface OpenStoreOptions {
  /** Milliseconds since the epoch; default `Date.now`. */
  readonly now?: () => number;
  /** SQLite: how long a write waits for another process's lock. Milliseconds; default 10,000. */
  readonly busyTimeoutMs?: number;
  /** SQLite: upper bound of the file in pages of 4 KiB. */
  readonly maxPages?: number;
}

/**
 * Opens a store, makes it where it is missing (a SQLite file's folder too, with mode 0700), and brings it to this
 * release's schema.
 *
 * @param location path of a SQLite file, or `postgres://…`.
 * @throws StoreError `StoreUnavailable`, `StoreTooNew`.
 */
export async function openStore(location: string, options: OpenStoreOptions = {}): Promise<Store> {
  const { now = Date.now, busyTimeoutMs = 10_000, maxPages } = options;
  const database = await guarded({ translate: (error) => translateSqlite(error, location) }, () =>
    openSqlite(location, { now, busyTimeoutMs, ...(maxPages === undefined ? {} : { maxPages }) }),
  );
  try {
    await migrate(database, randomUUID());
    return createStore(database, (await readIdentity(database)).storeId);
  } catch (error) {
    await database.close();
    throw error;
  }
}
