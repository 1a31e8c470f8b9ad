import { type Ruling, refusedStatement, unavailable } from './unavailable.ts';

const SERVER = 'Check that the PostgreSQL server runs and that HOLDFAST_STORE names its host, port and database.';
const LOGIN = 'Check the user, the password and the rights in HOLDFAST_STORE.';
const BUSY = 'Wait a moment; if it stays, look at the load and the connection limit of the server.';

/** SQLSTATE codes and classes that mean the world is in the way (PostgreSQL manual, appendix A). */
const BY_STATE: Readonly<Record<string, Ruling>> = {
  '08': { says: 'lost its connection', hint: SERVER, retryable: true },
  '28': { says: 'refuses the login', hint: LOGIN, retryable: false },
  '3D': { says: 'has no such database', hint: SERVER, retryable: false },
  '3F': { says: 'has no such schema', hint: SERVER, retryable: false },
  '40': { says: 'ended the transaction in favour of another', hint: BUSY, retryable: true },
  '53': { says: 'is out of room, memory or connections', hint: BUSY, retryable: true },
  '57': { says: 'is stopping or has cancelled the query', hint: SERVER, retryable: true },
  '58': { says: 'cannot read or write its files', hint: 'Look at the log of the server.', retryable: true },
  XX: { says: 'reports damaged data', hint: 'Look at the log of the server, and restore a backup.', retryable: false },
  '25006': { says: 'is read-only', hint: 'Connect to the primary server.', retryable: false },
  '42501': { says: 'does not let this user do that', hint: LOGIN, retryable: false },
  '55P03': { says: 'is locked by another transaction', hint: BUSY, retryable: true },
};

const UNREACHABLE: Ruling = { says: 'cannot be reached', hint: SERVER, retryable: true };

const SYSTEM_CODES: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOENT',
  'EACCES',
]);

/** What `pg` says without a code when a socket ends or the pool waits too long. */
const PHRASES =
  /connection terminated|timeout exceeded when trying to connect|not queryable|server does not support ssl/i;

/** What `pg` threw about the store at `location`, as a `StoreError`; else unchanged. */
export function translatePostgres(error: unknown, location: string): unknown {
  const ruling = rulingOf(error);
  if (ruling === undefined) return error;
  return unavailable(location, ruling, error);
}

function rulingOf(error: unknown): Ruling | undefined {
  if (!(error instanceof Error)) return undefined;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (SYSTEM_CODES.has(code)) return UNREACHABLE;
  if (error instanceof AggregateError) return error.errors.map(rulingOf).find((found) => found !== undefined);
  if (code.length === 5) return BY_STATE[code] ?? BY_STATE[code.slice(0, 2)] ?? refusedStatement(error);
  return PHRASES.test(error.message) ? UNREACHABLE : undefined;
}
