import { describe, expect, test } from 'vitest';
import { assistantItem, batchItem, Execution, message, userItem } from './scenario.ts';
import { availableStores } from './stores.ts';
import { expectWhole } from './whole.ts';

describe.each(availableStores())('$kind: a run that only compacts', ({ make }) => {
  async function idle() {
    const store = await make();
    const first = new Execution(store, { sessionId: 's', runId: 'r1' });
    await first.open('m1');
    await first.begin(0);
    await first.commit(0, [assistantItem('hello')]);
    await first.answer('m1');
    const run = new Execution(store, { sessionId: 's', runId: 'r2', owner: 'execution-2', scheduledAtMs: 2_000 });
    return { store, run };
  }

  test('has no message and no item, compacts, and ends without an answer', async () => {
    const { store, run } = await idle();
    expect(await run.openWithout()).toMatchObject({ status: 'open', head: 2 });
    expect(await run.openWithout()).toMatchObject({ status: 'open', head: 2 });
    await run.checkpoint('c1', 2);
    expect(await run.answer()).toMatchObject({ head: 2, status: 'completed', final: { answers: [] } });
    expect(await run.openWithout()).toMatchObject({ status: 'closed', runStatus: 'completed' });
    const started = { type: 'run_started', messageId: 'r2', agent: 'helper', model: 'offline/echo', prompt: '' };
    expect((await store.events('r2')).map(({ event }) => event)).toMatchObject([started, { type: 'final_response' }]);
    expect(await store.run('r2')).toMatchObject({ status: 'completed', messageIds: [], steps: 0 });
    expect(await store.session('s')).toMatchObject({ title: 'text of m1', lastRunId: 'r2', lastSeq: 2 });
    expect(await store.entries('s')).toHaveLength(2);
    await expectWhole(store, 's');
  });

  test('takes in messages that come meanwhile, and answers those', async () => {
    const { store, run } = await idle();
    await run.openWithout();
    await run.begin(0, { append: [userItem('m2')], joined: ['m2'] });
    await run.commit(0, [assistantItem('yes')]);
    expect(await run.answer()).toMatchObject({ final: { answers: ['m2'] } });
    await expectWhole(store, 's');
  });

  test('is healed like any other when its workflow is gone', async () => {
    const { store, run } = await idle();
    await run.openWithout();
    const next = new Execution(store, { sessionId: 's', runId: 'r3', owner: 'execution-3', scheduledAtMs: 3_000 });
    await next.open('m2');
    expect(await store.run('r2')).toMatchObject({ status: 'abandoned' });
    expect((await store.events('r2')).at(-1)?.event).toMatchObject({ type: 'run_failed', answers: [] });
    await expectWhole(store, 's');
  });

  test('heals what it finds, and keeps the messages that wait behind it', async () => {
    const { store, run } = await idle();
    const gone = new Execution(store, { sessionId: 's', runId: 'gone', owner: 'execution-1' });
    await gone.open('m2', [message('m3'), message('m4')]);
    await gone.ask(0, 'a');
    const { message: _, ...opening } = run.opening('none', [message('m3')]);
    expect(await store.openRun(run.writer(), opening)).toMatchObject({ status: 'open', head: 5 });
    expect(await store.run('gone')).toMatchObject({ status: 'abandoned' });
    expect(await store.outcome('s', 'm3')).toBeUndefined();
    expect(await store.outcome('s', 'm4')).toMatchObject({ runId: 'gone' });
    expect((await store.entries('s')).at(-1)?.item).toMatchObject({ kind: 'tool_result_batch' });
  });

  test('a session that is not there is not made for it', async () => {
    const { store, run } = await idle();
    const nowhere = new Execution(store, { sessionId: 'nowhere', runId: 'r9' });
    nowhere.storeId = run.storeId;
    await expect(nowhere.openWithout()).rejects.toMatchObject({ name: 'StoreError', code: 'NotFound' });
    expect(await store.session('nowhere')).toBeUndefined();
    await expect(store.viewRevision('nowhere')).rejects.toMatchObject({ code: 'NotFound' });
  });

  test('everything may be replaced, and the session goes on behind the cut', async () => {
    const { store, run } = await idle();
    await run.openWithout();
    await run.checkpoint('c1', 3);
    expect(await store.checkpoint('s')).toMatchObject({ firstKeptSeq: 3 });
    await run.begin(0, { append: [userItem('m2')], joined: ['m2'] });
    await run.commit(0, [batchItem('z')]);
    expect(await store.viewRevision('s')).toBe('c1/0');
  });
});
