import SqliteDatabase from 'better-sqlite3';
import { type Ruling, refusedStatement, unavailable } from './unavailable.ts';

const RESTORE = 'Restore a backup of the file, or point HOLDFAST_STORE at another one; nothing was changed.';
const PERMISSION = 'Give this user read and write permission on the file and its folder, or set HOLDFAST_STORE.';

/** Primary SQLite result codes that mean the world is in the way (https://www.sqlite.org/rescode.html). */
const RULINGS: Readonly<Record<string, Ruling>> = {
  SQLITE_BUSY: {
    says: 'is locked by another process',
    hint: 'Wait a moment; if it stays, look for a process that holds the file open.',
    retryable: true,
  },
  SQLITE_LOCKED: { says: 'is locked', hint: 'Wait a moment and try again.', retryable: true },
  SQLITE_FULL: { says: 'cannot grow: the disk is full', hint: 'Free some room; the run waits.', retryable: true },
  SQLITE_CORRUPT: { says: 'is corrupt', hint: RESTORE, retryable: false },
  SQLITE_NOTADB: { says: 'is not a database', hint: RESTORE, retryable: false },
  SQLITE_CANTOPEN: { says: 'cannot be opened', hint: PERMISSION, retryable: false },
  SQLITE_PERM: { says: 'may not be used', hint: PERMISSION, retryable: false },
  SQLITE_AUTH: { says: 'may not be used', hint: PERMISSION, retryable: false },
  SQLITE_READONLY: { says: 'is read-only', hint: PERMISSION, retryable: false },
  SQLITE_IOERR: { says: 'cannot be read or written', hint: 'Check the disk.', retryable: true },
  SQLITE_NOMEM: { says: 'has no memory left to work with', hint: 'Free some memory; the run waits.', retryable: true },
  SQLITE_INTERRUPT: { says: 'was interrupted', hint: 'Try again.', retryable: true },
  SQLITE_PROTOCOL: { says: 'is locked by other processes', hint: 'Wait a moment and try again.', retryable: true },
  SQLITE_NOLFS: { says: 'is too large for this file system', hint: 'Move it to another disk.', retryable: false },
};

const FILE_RULINGS: Readonly<Record<string, Ruling>> = {
  EACCES: { says: 'may not be opened by this user', hint: PERMISSION, retryable: false },
  EPERM: { says: 'may not be opened by this user', hint: PERMISSION, retryable: false },
  EROFS: { says: 'is on a read-only disk', hint: PERMISSION, retryable: false },
  ENOTDIR: {
    says: 'is not in a folder',
    hint: 'Set HOLDFAST_STORE to a file whose folder can be made.',
    retryable: false,
  },
  EISDIR: { says: 'is a folder', hint: 'Set HOLDFAST_STORE to a file.', retryable: false },
  EEXIST: { says: 'is not in a folder', hint: 'Set HOLDFAST_STORE to a file.', retryable: false },
  ENOSPC: { says: 'cannot grow: the disk is full', hint: 'Free some room; the run waits.', retryable: true },
};

/** What better-sqlite3 or the file system threw about the store at `location`, as a `StoreError`; else unchanged. */
export function translateSqlite(error: unknown, location: string): unknown {
  const ruling = rulingOf(error);
  if (ruling === undefined) return error;
  return unavailable(location, ruling, error);
}

/** Whether another connection holds the write lock. */
export function isBusy(error: unknown): boolean {
  return error instanceof SqliteDatabase.SqliteError && primaryCode(error.code) === 'SQLITE_BUSY';
}

function rulingOf(error: unknown): Ruling | undefined {
  if (error instanceof SqliteDatabase.SqliteError) return RULINGS[primaryCode(error.code)] ?? refusedStatement(error);
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') return FILE_RULINGS[error.code];
  return undefined;
}

/** `SQLITE_BUSY` of `SQLITE_BUSY_SNAPSHOT`: extended codes append to the primary one. */
function primaryCode(code: string): string {
  return code.split('_', 2).join('_');
}
