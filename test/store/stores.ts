import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { type OpenStoreOptions, openStore } from '../../src/store/open-store.ts';
import type { Store } from '../../src/store/store.ts';
import { freshDatabase } from './postgres-server.ts';

/** Where stores of one kind are made. */
export interface Stores {
  readonly kind: 'sqlite' | 'postgres';
  /** A place where no store is yet. */
  readonly location: () => Promise<string>;
  /** A new store, closed and removed when the test file ends. */
  readonly make: (options?: OpenStoreOptions) => Promise<Store>;
  /** A further store at a place, closed with the others. */
  readonly openAt: (location: string, options?: OpenStoreOptions) => Promise<Store>;
}

/** SQLite, and PostgreSQL when `HOLDFAST_TEST_POSTGRES` names a server. Call it at the top of a test file. */
export function availableStores(): readonly Stores[] {
  const server = process.env.HOLDFAST_TEST_POSTGRES;
  return [sqliteStores(), ...(server === undefined || server === '' ? [] : [postgresStores(server)])];
}

export function sqliteStores(): Stores {
  // In memory where the system offers it: every commit waits for the disk otherwise, and no test cuts the power.
  const folder = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'holdfast-store-'));
  let count = 0;
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return madeAt('sqlite', async () => {
    count += 1;
    return join(folder, String(count), 'holdfast.db');
  });
}

function postgresStores(server: string): Stores {
  const drops: (() => Promise<void>)[] = [];
  afterAll(async () => {
    for (const drop of drops) await drop();
  });
  return madeAt('postgres', async () => {
    const { url, drop } = await freshDatabase(server);
    drops.push(drop);
    return url;
  });
}

function madeAt(kind: Stores['kind'], location: () => Promise<string>): Stores {
  const opened: Store[] = [];
  afterAll(async () => {
    await Promise.all(opened.map((store) => store.close()));
  });
  const openAt = async (place: string, options?: OpenStoreOptions): Promise<Store> => {
    const store = await openStore(place, options);
    opened.push(store);
    return store;
  };
  return { kind, location, openAt, make: async (options) => openAt(await location(), options) };
}
