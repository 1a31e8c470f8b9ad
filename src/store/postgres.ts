import { Kysely, PostgresDialect, sql } from 'kysely';
import pg from 'pg';
import type { Database } from './database.ts';
import { translatePostgres } from './postgres-errors.ts';
import { CHANNEL, watchChannel } from './postgres-watch.ts';
import type { Schema } from './schema.ts';

export interface PostgresOptions {
  readonly now: () => number;
  /** Upper bound of open connections of this process, beside one for notices while somebody watches. */
  readonly maxConnections: number;
}

/** How long a query waits for a free connection, or for the server to answer a new one. */
const CONNECT_TIMEOUT_MS = 10_000;

/** OID of `int8`. Ours are counters and milliseconds, far below 2^53; `pg` would give texts. */
const INT8 = 20;

/** Opens a pool; nothing is connected before the first query. */
export function openPostgres(url: string, options: PostgresOptions): Database {
  const location = withoutCredentials(url);
  const settings: pg.PoolConfig = {
    connectionString: url,
    max: options.maxConnections,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    application_name: 'holdfast',
    types: { getTypeParser: (oid: number, format?: 'text' | 'binary') => parserOf(oid, format) },
  };
  const pool = new pg.Pool(settings);
  // An idle connection that breaks is replaced by the pool; without a listener it would end the process.
  pool.on('error', () => {});
  const kysely = new Kysely<Schema>({ dialect: new PostgresDialect({ pool }) });
  const watcher = watchChannel(() => new pg.Client(settings));
  return {
    kind: 'postgres',
    writer: kysely,
    reader: kysely,
    relaxed: (work) =>
      kysely.transaction().execute(async (trx) => {
        await sql`set local synchronous_commit = off`.execute(trx);
        return await work(trx);
      }),
    location,
    now: options.now,
    translate: (error) => translatePostgres(error, location),
    announce: async (trx, runId) => {
      await sql`select pg_notify(${CHANNEL}, ${runId})`.execute(trx);
    },
    watch: watcher.watch,
    close: async () => {
      await watcher.stop();
      await kysely.destroy();
    },
  };
}

export function isPostgresUrl(location: string): boolean {
  return /^postgres(?:ql)?:\/\//.test(location);
}

function parserOf(oid: number, format?: 'text' | 'binary'): (value: string) => unknown {
  return oid === INT8 && format !== 'binary' ? Number : pg.types.getTypeParser(oid, 'text');
}

/** User, host, port, database and search path tell one store from another; the password is nobody's business. */
function withoutCredentials(url: string): string {
  const parsed = new URL(url);
  parsed.username = '';
  parsed.password = '';
  const options = parsed.searchParams.get('options');
  parsed.search = '';
  return options === null ? parsed.href : `${parsed.href} (${options})`;
}
