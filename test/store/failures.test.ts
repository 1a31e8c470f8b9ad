import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import SqliteDatabase from 'better-sqlite3';
import { sql } from 'kysely';
import { afterAll, describe, expect, test } from 'vitest';
import { STORE_SCHEMA_VERSION } from '../../src/store/migrations.ts';
import { openDatabase, openStore } from '../../src/store/open-store.ts';
import { assistantItem, Execution } from './scenario.ts';
import { availableStores, sqliteStores } from './stores.ts';

const { location, openAt } = sqliteStores();
const NOBODY = 65_534;

/** Not one sentence too many, and something to do. */
const clear = {
  name: 'StoreError',
  code: 'StoreUnavailable',
  message: expect.stringMatching(/^The store [^\n]+\.$/),
  hint: expect.stringMatching(/^[A-Z][^\n]+[.]$/),
};

describe('a SQLite store in a bad place', () => {
  test('its missing folders are made, for this user only, and so is the file', async () => {
    const path = await location();
    await openAt(path);
    expect(statSync(dirname(path)).mode & 0o777).toBe(0o700);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  test('a file that is no database is refused and left as it is', async () => {
    const path = await location();
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, 'This is a diary. '.repeat(1_000));
    await expect(openStore(path)).rejects.toMatchObject({ ...clear, retryable: false });
    expect(readFileSync(path, 'utf8')).toBe('This is a diary. '.repeat(1_000));
  });

  test('a damaged database is said to be corrupt, and nobody is told to wait', async () => {
    const path = await location();
    const store = await openStore(path);
    for (const n of [1, 2, 3]) await new Execution(store, { sessionId: `s${n}`, runId: `r${n}` }).open(`m${n}`);
    await store.close();
    const file = openSync(path, 'r+');
    const { size } = statSync(path);
    for (let page = 1; page * 4096 < size; page += 1) writeSync(file, Buffer.alloc(4096, 0xa5), 0, 4096, page * 4096);
    const outcome = await openStore(path).catch((error: unknown) => error);
    expect(outcome).toMatchObject({ ...clear, retryable: false, message: expect.stringContaining('corrupt') });
  });

  test('a folder in the place of the file, and a file in the place of the folder, are refused', async () => {
    const path = await location();
    mkdirSync(path, { recursive: true });
    await expect(openStore(path)).rejects.toMatchObject({ ...clear, retryable: false });
    const file = await location();
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, '');
    await expect(openStore(join(file, 'holdfast.db'))).rejects.toMatchObject({ ...clear, retryable: false });
  });

  test("SQLite's name of a database in memory is refused, and no file gets that name", async () => {
    const path = join(dirname(await location()), ':memory:');
    await expect(openStore(path)).rejects.toMatchObject({ ...clear, retryable: false });
    expect(existsSync(path)).toBe(false);
  });

  test('a full disk is waited out: the write that finds it is not half done, and later ones pass', async () => {
    const path = await location();
    const full = await openAt(path, { maxPages: 90 });
    const run = new Execution(full, { sessionId: 's', runId: 'r1' });
    await run.open('m1');
    await run.begin(0);
    const fill = run.commit(0, [assistantItem('x'.repeat(1_000_000))]);
    await expect(fill).rejects.toMatchObject({ ...clear, retryable: true });
    expect(await full.entries('s')).toHaveLength(1);
    expect(await run.commit(0, [assistantItem('small')])).toMatchObject({ status: 'committed' });
    await full.close();
    const again = await openAt(path);
    expect(await again.entries('s')).toHaveLength(2);
  });

  test('a lock that another process keeps makes a write wait, then say so; reads go on', async () => {
    const path = await location();
    const store = await openAt(path, { busyTimeoutMs: 50 });
    const run = new Execution(store, { sessionId: 's', runId: 'r1' });
    await run.open('m1');
    const other = new SqliteDatabase(path);
    other.exec('begin immediate');
    await expect(run.begin(0)).rejects.toMatchObject({ ...clear, retryable: true });
    expect(await store.entries('s')).toHaveLength(1);
    const waiting = run.begin(0).catch((error: unknown) => error);
    other.exec('commit');
    other.close();
    expect(await waiting).toMatchObject({ status: 'begun' });
  });
});

// Only root can become somebody else; where the tests run as a user, that user is unprivileged by itself.
describe('a SQLite store where this user may not write', () => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-closed-'));
  const isRoot = process.getuid?.() === 0;
  afterAll(() => {
    chmodSync(folder, 0o700);
    rmSync(folder, { recursive: true, force: true });
  });

  async function unprivileged<T>(work: () => Promise<T>): Promise<T> {
    if (!isRoot) return await work();
    process.setegid?.(NOBODY);
    process.seteuid?.(NOBODY);
    try {
      return await work();
    } finally {
      process.seteuid?.(0);
      process.setegid?.(0);
    }
  }

  test('a closed folder, a closed file and a file that can only be read are refused in one sentence', async () => {
    chmodSync(folder, 0o755);
    const path = join(folder, 'holdfast.db');
    await (await openStore(path)).close();
    chmodSync(path, 0o444);
    chmodSync(folder, 0o555);
    await unprivileged(async () => {
      await expect(openStore(join(folder, 'new.db'))).rejects.toMatchObject({ ...clear, retryable: false });
      await expect(openStore(join(folder, 'sub', 'new.db'))).rejects.toMatchObject({ ...clear, retryable: false });
      await expect(openStore(path)).rejects.toMatchObject({ ...clear, retryable: false });
    });
    if (isRoot) {
      chmodSync(path, 0o600);
      await unprivileged(() => expect(openStore(path)).rejects.toMatchObject({ ...clear, retryable: false }));
      chownSync(path, 0, 0);
    }
  });
});

describe.each(availableStores())('$kind: a store of another release', (stores) => {
  test('one of a newer schema is refused and not touched', async () => {
    const place = await stores.location();
    const database = await openDatabase(place, {});
    await sql`update store_meta set value = '7' where key = 'schema_version'`.execute(database.writer);
    await expect(openStore(place)).rejects.toMatchObject({ name: 'StoreError', code: 'StoreTooNew', retryable: false });
    const { rows } = await sql<{ value: string }>`select value from store_meta where key = 'schema_version'`.execute(
      database.writer,
    );
    expect(rows).toEqual([{ value: '7' }]);
    await database.close();
  });

  test('one whose tables are of another shape refuses for good and says why, instead of being asked for ever', async () => {
    const place = await stores.location();
    const run = new Execution(await stores.openAt(place), { sessionId: 's', runId: 'r1' });
    await run.open('m1');
    const database = await openDatabase(place, {});
    await sql`alter table requests rename column began_at to started_at`.execute(database.writer);
    await expect(run.begin(0)).rejects.toMatchObject({
      ...clear,
      retryable: false,
      message: expect.stringMatching(/^The store .* refused a statement \(.*began_at.*\)\.$/),
    });
    await sql`alter table requests rename column started_at to began_at`.execute(database.writer);
    await database.close();
    expect(await run.begin(0)).toMatchObject({ status: 'begun' });
  });

  test('a place that several open at once gets one schema and one id', async () => {
    const place = await stores.location();
    const opened = await Promise.all([1, 2, 3, 4].map(() => stores.openAt(place)));
    const identities = await Promise.all(opened.map((store) => store.identity()));
    expect(new Set(identities.map((identity) => identity.storeId)).size).toBe(1);
    expect(identities[0]?.schemaVersion).toBe(STORE_SCHEMA_VERSION);
  });
});
