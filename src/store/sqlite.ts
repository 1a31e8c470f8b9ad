import { chmod, mkdir, stat } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import SqliteDatabase from 'better-sqlite3';
import {
  CompiledQuery,
  type DatabaseConnection,
  Kysely,
  SqliteDialect,
  SqliteDriver,
  sql,
  type Transaction,
} from 'kysely';
import type { Database } from './database.ts';
import type { Schema } from './schema.ts';
import { isBusy, translateSqlite } from './sqlite-errors.ts';
import { watchDataVersion } from './sqlite-watch.ts';
import { type Ruling, unavailable } from './unavailable.ts';

export interface SqliteOptions {
  readonly now: () => number;
  /** How long a write waits for another process's lock before it rejects. */
  readonly busyTimeoutMs: number;
  /** Upper bound of the file in pages of 4 KiB, as a full disk would set one. */
  readonly maxPages?: number;
}

/** The driver blocks the event loop while SQLite waits for a lock, so it waits this long only; the rest is ours. */
const BLOCKING_WAIT_MS = 5;

/** SQLite's name for a database that one connection has in memory. A store has several; theirs would be a file so named. */
const IN_MEMORY = ':memory:';

const NOT_IN_MEMORY: Ruling = {
  says: 'would live in memory, where no other process finds it',
  hint: 'Set HOLDFAST_STORE to the path of a file or to a postgres:// URL.',
  retryable: false,
};

const WRITER_PRAGMAS = ['journal_mode = WAL', 'synchronous = FULL', 'foreign_keys = ON'];

/**
 * Opens the file, making it and its folder (mode 0700) where missing. Rejects with what the driver threw.
 *
 * @throws StoreError `StoreUnavailable` for SQLite's name of a database in memory.
 */
export async function openSqlite(path: string, options: SqliteOptions): Promise<Database> {
  const location = resolve(path);
  if (basename(location) === IN_MEMORY) throw unavailable(path, NOT_IN_MEMORY);
  await mkdir(dirname(location), { recursive: true, mode: 0o700 });
  const isNew = (await stat(location).catch(() => undefined)) === undefined;
  const write = await whenFree(options.busyTimeoutMs, () => connect(location, WRITER_PRAGMAS));
  if (options.maxPages !== undefined) write.pragma(`max_page_count = ${options.maxPages}`);
  if (isNew) await chmod(location, 0o600);
  try {
    const read = await whenFree(options.busyTimeoutMs, () => connect(location, ['query_only = ON']));
    return database(location, write, read, options);
  } catch (error) {
    write.close();
    throw error;
  }
}

function database(
  location: string,
  write: SqliteDatabase.Database,
  read: SqliteDatabase.Database,
  options: SqliteOptions,
): Database {
  const writer = new Kysely<Schema>({ dialect: dialect(write, options.busyTimeoutMs) });
  const reader = new Kysely<Schema>({ dialect: dialect(read, options.busyTimeoutMs) });
  const watcher = watchDataVersion(read);
  return {
    kind: 'sqlite',
    writer,
    reader,
    relaxed: (work) => relaxed(writer, work),
    location,
    now: options.now,
    translate: (error) => translateSqlite(error, location),
    // The file's change counter tells other processes (`watch`).
    announce: async () => {},
    watch: watcher.watch,
    close: async () => {
      watcher.stop();
      // A transaction that is under way is let through.
      await writer.connection().execute(async () => write.close());
      read.close();
    },
  };
}

/** WAL without a sync at commit; the connection is ours alone meanwhile, so that no other commit gets less. */
async function relaxed<T>(writer: Kysely<Schema>, work: (trx: Transaction<Schema>) => Promise<T>): Promise<T> {
  return await writer.connection().execute(async (connection) => {
    await sql`pragma synchronous = normal`.execute(connection);
    try {
      return await connection.transaction().execute(work);
    } finally {
      await sql`pragma synchronous = full`.execute(connection);
    }
  });
}

/** Another process may be changing the journal mode of a new file, or recovering one, and then nothing else goes. */
async function whenFree<T>(timeoutMs: number, work: () => T | Promise<T>): Promise<T> {
  const giveUpAt = performance.now() + timeoutMs;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isBusy(error) || performance.now() >= giveUpAt) throw error;
      await delay(1 + Math.random() * 10);
    }
  }
}

function connect(location: string, pragmas: readonly string[]): SqliteDatabase.Database {
  const connection = new SqliteDatabase(location, { timeout: BLOCKING_WAIT_MS });
  try {
    for (const pragma of pragmas) connection.pragma(pragma);
    return connection;
  } catch (error) {
    connection.close();
    throw error;
  }
}

function dialect(connection: SqliteDatabase.Database, busyTimeoutMs: number): SqliteDialect {
  const shared = { prepare: cachedPrepare(connection), close: () => connection.close() };
  const made = new SqliteDialect({ database: shared });
  made.createDriver = () => new ImmediateDriver(connection, shared, busyTimeoutMs);
  return made;
}

/** Compiling a statement costs as much as running it; the store has some dozens of them, so all are kept. */
function cachedPrepare(connection: SqliteDatabase.Database): (text: string) => SqliteDatabase.Statement<unknown[]> {
  const statements = new Map<string, SqliteDatabase.Statement<unknown[]>>();
  return (text) => {
    const known = statements.get(text);
    if (known !== undefined) return known;
    const made = connection.prepare<unknown[]>(text);
    if (statements.size < 500) statements.set(text, made);
    return made;
  };
}

/**
 * Takes the write lock when a transaction begins: a transaction that reads first and then finds the file changed
 * would fail with no way to wait. Transactions of one process stand in the driver's queue for its one connection.
 */
class ImmediateDriver extends SqliteDriver {
  readonly #connection: SqliteDatabase.Database;
  readonly #busyTimeoutMs: number;

  constructor(
    connection: SqliteDatabase.Database,
    database: ConstructorParameters<typeof SqliteDriver>[0]['database'],
    busyTimeoutMs: number,
  ) {
    super({ database });
    this.#connection = connection;
    this.#busyTimeoutMs = busyTimeoutMs;
  }

  /** A full disk or an I/O error has already rolled back: a second rollback would fail and hide the reason. */
  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    if (this.#connection.inTransaction) await super.rollbackTransaction(connection);
  }

  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await whenFree(this.#busyTimeoutMs, () => connection.executeQuery(CompiledQuery.raw('begin immediate')));
  }
}
