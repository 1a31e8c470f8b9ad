import SqliteDatabase from 'better-sqlite3';
import { DatabaseError } from 'pg';
import { describe, expect, test } from 'vitest';
import { translatePostgres } from '../../src/store/postgres-errors.ts';
import { translateSqlite } from '../../src/store/sqlite-errors.ts';

interface Case {
  readonly code: string;
  readonly retryable: boolean;
  readonly why: string;
}

const SQLITE: readonly Case[] = [
  { code: 'SQLITE_BUSY', retryable: true, why: 'locks are given back' },
  { code: 'SQLITE_BUSY_SNAPSHOT', retryable: true, why: 'extended codes mean what their primary one does' },
  { code: 'SQLITE_FULL', retryable: true, why: 'somebody will free some room' },
  { code: 'SQLITE_IOERR_FSYNC', retryable: true, why: 'a disk may come back' },
  { code: 'SQLITE_CORRUPT', retryable: false, why: 'damage does not mend itself' },
  { code: 'SQLITE_CORRUPT_INDEX', retryable: false, why: 'nor does that of an index' },
  { code: 'SQLITE_NOTADB', retryable: false, why: 'another file stays another file' },
  { code: 'SQLITE_CANTOPEN', retryable: false, why: 'rights are given by people' },
  { code: 'SQLITE_READONLY_DBMOVED', retryable: false, why: 'the file was replaced under us' },
];

const POSTGRES: readonly Case[] = [
  { code: '08006', retryable: true, why: 'a connection can be made again' },
  { code: '57P01', retryable: true, why: 'a server that is stopped is started again' },
  { code: '53100', retryable: true, why: 'somebody will free some room' },
  { code: '53300', retryable: true, why: 'others will close their connections' },
  { code: '40P01', retryable: true, why: 'the other transaction of a deadlock is through' },
  { code: '28P01', retryable: false, why: 'a password does not correct itself' },
  { code: '3D000', retryable: false, why: 'people make databases' },
  { code: '42501', retryable: false, why: 'rights are given by people' },
  { code: '25006', retryable: false, why: 'a standby stays one' },
  { code: 'XX001', retryable: false, why: 'damage does not mend itself' },
];

describe('what a database says becomes one of our codes', () => {
  test.each(SQLITE)('SQLite $code: retryable=$retryable, because $why', ({ code, retryable }) => {
    const error = new SqliteDatabase.SqliteError('raw words', code);
    expect(translateSqlite(error, '/the/store.db')).toMatchObject({
      name: 'StoreError',
      code: 'StoreUnavailable',
      message: expect.stringContaining('/the/store.db'),
      retryable,
      cause: error,
    });
  });

  test.each(POSTGRES)('PostgreSQL $code: retryable=$retryable, because $why', ({ code, retryable }) => {
    const error = Object.assign(new DatabaseError('raw words', 1, 'error'), { code });
    const told = translatePostgres(error, 'postgres://host/db');
    expect(told).toMatchObject({ name: 'StoreError', code: 'StoreUnavailable', retryable, cause: error });
  });

  test.each(['ECONNREFUSED', 'ENOTFOUND', 'ETIMEDOUT'])('a PostgreSQL server behind %s is out of reach', (code) => {
    // Node tries each address of a host, and reports all failures together.
    const error = new AggregateError([Object.assign(new Error(code), { code })]);
    expect(translatePostgres(error, 'postgres://host/db')).toMatchObject({ code: 'StoreUnavailable', retryable: true });
  });

  test('a statement that no database takes is refused for good, in one sentence that names the reason', () => {
    const misspelt = new SqliteDatabase.SqliteError('no such column: views', 'SQLITE_ERROR');
    const twice = new SqliteDatabase.SqliteError('UNIQUE constraint failed', 'SQLITE_CONSTRAINT_PRIMARYKEY');
    const gone = Object.assign(new DatabaseError('relation "facts" does not exist', 1, 'error'), { code: '42P01' });
    const told = [translateSqlite(misspelt, 'x'), translateSqlite(twice, 'x'), translatePostgres(gone, 'x')];
    for (const [at, reason] of [misspelt, twice, gone].entries()) {
      expect(told[at]).toMatchObject({ name: 'StoreError', code: 'StoreUnavailable', retryable: false, cause: reason });
      expect(told[at]).toMatchObject({ message: `The store x refused a statement (${reason.message}).` });
    }
  });

  test('our own mistakes are handed back untouched', () => {
    const bug = new TypeError('x is undefined');
    expect(translateSqlite(bug, 'x')).toBe(bug);
    expect(translatePostgres(bug, 'x')).toBe(bug);
  });
});
