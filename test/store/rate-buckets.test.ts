import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openStore } from '../../src/store/open-store.ts';
import type { Store } from '../../src/store/store.ts';
import { availableStores } from './stores.ts';

let folder: string;
let nowMs = 1_000_000;
let store: Store;
let other: Store;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-rate-'));
  const open = () => openStore(join(folder, 'store.db'), { now: () => nowMs });
  store = await open();
  other = await open();
});
afterEach(async () => {
  await store.close();
  await other.close();
  rmSync(folder, { recursive: true });
});

const requests = (amount = 1) => [{ bucket: 'p:requests', perMinute: 6, amount }];

test('a bucket gives a minute of calls at once, then tells how long to wait, to every worker of the store', async () => {
  for (let n = 0; n < 6; n++) expect(await (n % 2 ? store : other).takeRate(requests())).toEqual({ waitMs: 0 });
  expect(await store.takeRate(requests())).toEqual({ waitMs: 10_000 });
  expect(await other.takeRate(requests())).toEqual({ waitMs: 10_000 });
  nowMs += 4000;
  expect(await store.takeRate(requests())).toEqual({ waitMs: 6000 });
  nowMs += 6000;
  expect(await store.takeRate(requests())).toEqual({ waitMs: 0 });
});

test('of several buckets all give or none does', async () => {
  const both = [...requests(), { bucket: 'p:tokens', perMinute: 100, amount: 80 }];
  expect(await store.takeRate(both)).toEqual({ waitMs: 0 });
  expect(await store.takeRate(both)).toEqual({ waitMs: 36_000 });
  for (let n = 0; n < 5; n++) expect(await store.takeRate(requests())).toEqual({ waitMs: 0 });
});

test('a call that is larger than a minute of tokens goes out of a full bucket, and the next one waits', async () => {
  const large = [{ bucket: 'p:tokens', perMinute: 100, amount: 250 }];
  expect(await store.takeRate(large)).toEqual({ waitMs: 0 });
  expect(await store.takeRate(large)).toEqual({ waitMs: 150_000 });
});

describe.each(availableStores())('$kind', ({ location, openAt }) => {
  test('workers that take at the same time get no more than there is', async () => {
    const place = await location();
    const workers = await Promise.all([1, 2].map(() => openAt(place, { now: () => nowMs })));
    const limits = [...requests(), { bucket: 'p:tokens', perMinute: 1_000, amount: 1 }];
    const orders = [limits, limits.toReversed()];
    const told = await Promise.all(
      Array.from({ length: 30 }, (_, n) => workers[n % 2]?.takeRate(orders[n % 2] ?? limits)),
    );
    expect(told.filter((answer) => answer?.waitMs === 0)).toHaveLength(6);
  });
});
