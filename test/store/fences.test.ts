import { describe, expect, test } from 'vitest';
import { assistantItem, batchItem, Execution } from './scenario.ts';
import { availableStores } from './stores.ts';

const fenced = { name: 'StoreError', code: 'Fenced', retryable: false };

describe.each(availableStores())('$kind: fences', ({ make }) => {
  test('a later execution takes the session over, and the former owner is refused every write', async () => {
    const store = await make();
    const old = new Execution(store, { sessionId: 's', runId: 'r1', owner: 'old', scheduledAtMs: 1_000 });
    await old.open('m1');
    await old.ask(0, 'c1');
    const later = new Execution(store, { sessionId: 's', runId: 'r1', owner: 'later', scheduledAtMs: 2_000 });
    later.storeId = old.storeId;
    later.head = old.head;
    await later.begin(1);
    const before = [await store.entries('s'), await store.events('r1')];

    await expect(old.open('m1')).rejects.toMatchObject(fenced);
    await expect(old.begin(2)).rejects.toMatchObject(fenced);
    await expect(old.commit(1, [assistantItem('late')])).rejects.toMatchObject(fenced);
    await expect(old.startCall(0, 'c1')).rejects.toMatchObject(fenced);
    await expect(old.endCall(0, 'c1')).rejects.toMatchObject(fenced);
    await expect(old.answer('m1')).rejects.toMatchObject(fenced);
    const deltas = { ref: old.ref(), step: 1, attempt: 1, from: 0, deltas: [{ kind: 'text', text: 'x' }] } as const;
    await expect(store.appendDeltas(old.writer(), deltas)).rejects.toMatchObject(fenced);
    await expect(store.renewLease(old.writer(), 'c1', 1_000)).rejects.toMatchObject(fenced);
    const settlement = { ref: old.ref(), step: 0, settlement: {} };
    await expect(store.settleBatch(old.writer(), settlement)).rejects.toMatchObject(fenced);

    expect([await store.entries('s'), await store.events('r1')]).toEqual(before);
    expect(await store.run('r1')).toMatchObject({ owner: 'later' });
    expect(await later.commit(1, [assistantItem('mine')])).toMatchObject({ status: 'committed' });
  });

  test.each([0, 500, 1_000])('an execution scheduled at %d ms does not take over a claim of 1,000 ms', async (at) => {
    const store = await make();
    const owner = new Execution(store, { sessionId: 's', runId: 'r1', owner: 'owner', scheduledAtMs: 1_000 });
    await owner.open('m1');
    const early = new Execution(store, { sessionId: 's', runId: 'r2', owner: 'early', scheduledAtMs: at });
    await expect(early.open('m2')).rejects.toMatchObject(fenced);
    expect(await owner.begin(0)).toMatchObject({ status: 'begun' });
  });

  test('once an attempt has begun, earlier ones are refused, and only those of the same activity', async () => {
    const store = await make();
    const run = new Execution(store, { sessionId: 's', runId: 'r1' });
    await run.open('m1');
    const attempt = (n: number) => run.writer({ activityId: 'step-0', attempt: n });
    await run.begin(0, {}, attempt(1));
    await run.begin(0, {}, attempt(3));
    for (const late of [1, 2]) {
      await expect(run.commit(0, [batchItem('c1')], {}, attempt(late))).rejects.toMatchObject(fenced);
    }
    expect(await run.commit(0, [batchItem('c1')], {}, attempt(3))).toMatchObject({ status: 'committed' });
    expect(await run.startCall(0, 'c1')).toEqual({ status: 'run' });
  });

  test('the same activity id of another execution has attempts of its own', async () => {
    const store = await make();
    const first = new Execution(store, { sessionId: 's', runId: 'r1', owner: 'first' });
    await first.open('m1', [], first.writer({ activityId: 'a', attempt: 5 }));
    await first.answer('m1');
    const second = new Execution(store, { sessionId: 's', runId: 'r2', owner: 'second', scheduledAtMs: 2_000 });
    expect(await second.open('m2', [], second.writer({ activityId: 'a', attempt: 1 }))).toMatchObject({
      status: 'open',
    });
  });

  test('a refused writer leaves nothing behind, not even its claim', async () => {
    const store = await make();
    const run = new Execution(store, { sessionId: 's', runId: 'r1', owner: 'old' });
    await run.open('m1');
    const later = new Execution(store, { sessionId: 's', runId: 'r1', owner: 'later', scheduledAtMs: 2_000 });
    later.storeId = run.storeId;
    later.head = 99;
    await expect(later.begin(0)).rejects.toMatchObject({ code: 'StoreBehind', retryable: false });
    expect(await run.begin(0)).toMatchObject({ status: 'begun' });
  });
});

describe.each(availableStores())('$kind: the store and the run agree', ({ make }) => {
  test('a store that ends before what the run knows is behind', async () => {
    const store = await make();
    const run = new Execution(store, { sessionId: 's', runId: 'r1' });
    await run.open('m1');
    run.head = 2;
    await expect(run.begin(0)).rejects.toMatchObject({ code: 'StoreBehind', retryable: false });
    await expect(run.answer('m1')).rejects.toMatchObject({ code: 'StoreBehind' });
  });

  test('a run whose row is gone is behind too, and one that never was is not found', async () => {
    const store = await make();
    const opened = new Execution(store, { sessionId: 's', runId: 'r1' });
    await opened.open('m1');
    const lost = new Execution(store, { sessionId: 's', runId: 'lost' });
    lost.storeId = opened.storeId;
    await expect(lost.begin(0)).rejects.toMatchObject({ code: 'NotFound' });
    lost.head = 7;
    await expect(lost.begin(0)).rejects.toMatchObject({ code: 'StoreBehind' });
    const nowhere = new Execution(store, { sessionId: 'nowhere', runId: 'lost' });
    nowhere.storeId = opened.storeId;
    nowhere.head = 7;
    await expect(nowhere.begin(0)).rejects.toMatchObject({ code: 'StoreBehind' });
  });

  test('a run of another store is refused before anything is read', async () => {
    const store = await make();
    const run = new Execution(store, { sessionId: 's', runId: 'r1' });
    await run.open('m1');
    const mine = run.storeId;
    run.storeId = 'another';
    await expect(run.begin(0)).rejects.toMatchObject({ code: 'StoreMismatch', retryable: false });
    run.storeId = mine;
    expect(await run.begin(0)).toMatchObject({ status: 'begun' });
    const opening = { ...run.opening('m2'), runId: 'r2', storeId: 'another' };
    await expect(store.openRun(run.writer(), opening)).rejects.toMatchObject({ code: 'StoreMismatch' });
  });

  test('a store is bound to one namespace for good', async () => {
    const store = await make();
    await store.bindNamespace('one');
    await store.bindNamespace('one');
    await expect(store.bindNamespace('two')).rejects.toMatchObject({ code: 'StoreMismatch' });
    expect(await store.identity()).toMatchObject({ namespaceId: 'one' });
  });
});
