import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { openStore } from '../../src/store/open-store.ts';
import { Execution } from './scenario.ts';
import { availableStores } from './stores.ts';

const server = process.env.HOLDFAST_TEST_POSTGRES ?? '';

describe.each(availableStores().filter((stores) => stores.kind === 'postgres'))('a PostgreSQL server', (stores) => {
  const admin = new Client({ connectionString: server });
  const connected = admin.connect();
  afterAll(() => admin.end());

  /** A new store whose connections can be told from all others by their name. */
  async function named(options: { maxConnections?: number } = {}) {
    const name = `holdfast-${randomUUID()}`;
    const url = new URL(await stores.location());
    url.searchParams.set('application_name', name);
    const store = await stores.openAt(url.href, options);
    await connected;
    return { name, store };
  }

  async function connections(name: string): Promise<readonly number[]> {
    const text = 'select pid from pg_stat_activity where application_name = $1';
    const { rows } = await admin.query<{ pid: number }>(text, [name]);
    return rows.map((row) => row.pid);
  }

  async function breakAll(name: string): Promise<void> {
    await admin.query('select pg_terminate_backend(pid) from pg_stat_activity where application_name = $1', [name]);
  }

  test('is never given more connections than allowed, and more writers wait their turn', async () => {
    const { name, store } = await named({ maxConnections: 3 });
    const sessions = Array.from({ length: 30 }, (_, n) => new Execution(store, { sessionId: `s${n}`, runId: `r${n}` }));
    const most = { seen: 0 };
    const opened = sessions.map(async (run, n) => {
      const told = await run.open(`m${n}`);
      most.seen = Math.max(most.seen, (await connections(name)).length);
      return told.status;
    });
    expect(new Set(await Promise.all(opened))).toEqual(new Set(['open']));
    expect(most.seen).toBeGreaterThan(0);
    expect(most.seen).toBeLessThanOrEqual(3);
  });

  test('may break every connection: the next write makes a new one', async () => {
    const { name, store } = await named();
    const run = new Execution(store, { sessionId: 's', runId: 'r1' });
    await run.open('m1');
    await breakAll(name);
    await vi.waitFor(async () => expect(await run.begin(0)).toMatchObject({ status: 'begun' }), { timeout: 20_000 });
  });

  test('may break the connection that brings news: it is made again, and the reader is told', async () => {
    const { name, store } = await named();
    const run = new Execution(store, { sessionId: 's', runId: 'r1' });
    await run.open('m1');
    let news = 0;
    const stop = store.onChange('r1', () => {
      news += 1;
    });
    await vi.waitFor(() => expect(news).toBeGreaterThan(0), { timeout: 20_000 });
    await breakAll(name);
    const before = news;
    await vi.waitFor(() => expect(news).toBeGreaterThan(before), { timeout: 20_000 });
    stop();
  });

  test('without the database that was asked for is a clear error', async () => {
    const url = new URL(server);
    url.pathname = '/nowhere';
    await expect(openStore(url.href)).rejects.toMatchObject({ code: 'StoreUnavailable', retryable: false });
  });
});

test('a PostgreSQL server that does not answer is said to be away, and no password is told', async () => {
  const outcome = await openStore('postgres://someone:sesame@127.0.0.1:1/nowhere').catch((error: unknown) => error);
  expect(outcome).toMatchObject({
    name: 'StoreError',
    code: 'StoreUnavailable',
    message: 'The store postgres://127.0.0.1:1/nowhere cannot be reached.',
    retryable: true,
  });
  expect(JSON.stringify([outcome, String(outcome)])).not.toContain('sesame');
});
