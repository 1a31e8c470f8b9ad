import { describe, expect, test } from 'vitest';
import { validate } from '../../src/transcript/validate.ts';
import { assistantItem, batchItem, Execution, requested, userItem } from './scenario.ts';
import { availableStores } from './stores.ts';

describe.each(availableStores())('$kind: steps and calls', ({ make }) => {
  test('a step that is committed is never asked of the model again', async () => {
    const store = await make();
    const run = new Execution(store, { sessionId: 's', runId: 'r1' });
    await run.open('m1');
    await run.begin(0);
    await run.commit(0, [assistantItem('first')], { outcome: { won: 'first' } });
    const second = await run.commit(0, [assistantItem('second')], { outcome: { won: 'second' } });

    expect(second).toEqual({ status: 'committed', head: 2, outcome: { won: 'first' } });
    expect(await run.begin(0)).toEqual({ status: 'committed', head: 2, outcome: { won: 'first' } });
    expect(await store.entries('s')).toHaveLength(2);
    expect(await store.request('r1', 0)).toMatchObject({ model: 'offline/echo', request: { step: 0 }, headAtBegin: 1 });
  });

  test('a second attempt of a step appends nothing again and voids the partial text of the first', async () => {
    const store = await make();
    const run = new Execution(store, { sessionId: 's', runId: 'r1' });
    await run.open('m1');
    const more = {
      append: [userItem('m2')],
      joined: ['m2'],
      events: [{ type: 'user_message_queued', messageId: 'm2', mode: 'steer', preview: 'm2' } as const],
    };
    await run.begin(0, more);
    await store.appendDeltas(run.writer({ activityId: 'step-0' }), {
      ref: run.ref(),
      step: 0,
      attempt: 1,
      from: 0,
      deltas: [{ kind: 'text', text: 'half' }],
    });
    const restarted = { type: 'model_attempt_restarted', step: 0, attempt: 2, reason: 'worker died' } as const;
    const retry = run.writer({ activityId: 'step-0', attempt: 2 });
    expect(await run.begin(0, { ...more, events: [...more.events, restarted] }, retry)).toEqual({
      status: 'begun',
      head: 2,
      revision: 'start/0',
    });
    expect(await store.entries('s')).toHaveLength(2);
    expect((await store.events('r1')).map(({ event }) => event.type)).toEqual([
      'run_started',
      'user_message_queued',
      'model_attempt_restarted',
    ]);
    expect(await store.deltas('r1')).toBeUndefined();
    expect(await store.runOfMessage('s', 'm2')).toBe('r1');
  });

  test('another activity of the same step brings messages of its own, each of them once', async () => {
    const store = await make();
    const run = new Execution(store, { sessionId: 's', runId: 'r1' });
    await run.open('m1');
    const first = { append: [userItem('m2')], joined: ['m2'] };
    await run.begin(0, first, run.writer({ activityId: 'asked to compact' }));
    const second = { append: [userItem('m2'), userItem('m3')], joined: ['m2', 'm3'] };
    const after = run.writer({ activityId: 'after the compaction' });
    expect(await run.begin(0, second, after)).toMatchObject({ status: 'begun', head: 3 });
    await run.commit(0, [assistantItem('done')], {}, after);
    const ids = (await store.entries('s')).map(({ item }) => (item.kind === 'user_message' ? item.messageId : null));
    expect(ids).toEqual(['m1', 'm2', 'm3', null]);
    expect(await store.request('r1', 0)).toMatchObject({ headAtBegin: 3 });
    expect(await run.answer('m1')).toMatchObject({ final: { answers: ['m1', 'm2', 'm3'] } });
  });

  test('another activity of the same step starts its text anew', async () => {
    const store = await make();
    const run = new Execution(store, { sessionId: 's', runId: 'r1' });
    await run.open('m1');
    const text = (activityId: string, said: string) =>
      store.appendDeltas(run.writer({ activityId }), {
        ref: run.ref(),
        step: 0,
        attempt: 1,
        from: 0,
        deltas: [{ kind: 'text', text: said }],
      });
    await run.begin(0, {}, run.writer({ activityId: 'too-long' }));
    await text('too-long', 'cut off');
    await run.begin(0, {}, run.writer({ activityId: 'after-compaction' }));
    await text('after-compaction', 'anew');
    expect((await store.deltas('r1'))?.deltas).toEqual([{ kind: 'text', text: 'anew' }]);
  });

  test('the next step closes the batch: stored results in call order, the others as they ended', async () => {
    const store = await make();
    const run = new Execution(store, { sessionId: 's', runId: 'r1' });
    await run.open('m1');
    await run.ask(0, 'done', 'denied', 'unnamed', 'started', 'told-aborted', 'told-cancelled');
    await run.startCall(0, 'started');
    await run.startCall(0, 'told-aborted');
    await run.startCall(0, 'told-cancelled');
    await run.endCall(0, 'done');
    await run.begin(1, {
      settlement: {
        denied: { status: 'denied', message: 'not today' },
        'told-aborted': { status: 'aborted' },
        'told-cancelled': { status: 'cancelled' },
      },
      append: [userItem('m2')],
    });

    const items = (await store.entries('s')).map((entry) => entry.item);
    expect(items.map((item) => item.kind)).toEqual([
      'user_message',
      'tool_call_batch',
      'tool_result_batch',
      'user_message',
    ]);
    expect(items[2]).toMatchObject({
      results: [
        { callId: 'done', status: 'ok', content: [{ type: 'text', text: 'result of done' }] },
        { callId: 'denied', status: 'denied' },
        { callId: 'unnamed', status: 'aborted' },
        { callId: 'started', status: 'unknown_outcome' },
        // The store knows that it began, so it may have had effects.
        { callId: 'told-aborted', status: 'cancelled' },
        { callId: 'told-cancelled', status: 'cancelled' },
      ],
    });
    expect(JSON.stringify(items[2])).toContain('not today');
    expect(validate(items, { tail: 'closed' })).toEqual([]);
    const failed = (await store.events('r1')).flatMap(({ event }) =>
      event.type === 'tool_call_failed' ? [[event.callId, event.status]] : [],
    );
    expect(failed).toEqual([
      ['denied', 'denied'],
      ['unnamed', 'aborted'],
      ['started', 'unknown_outcome'],
      ['told-aborted', 'cancelled'],
      ['told-cancelled', 'cancelled'],
    ]);
    expect(await store.callResult('r1', 'unnamed')).toMatchObject({ status: 'aborted' });
  });

  test('a result that comes after its batch was closed changes nothing', async () => {
    const store = await make();
    const run = new Execution(store, { sessionId: 's', runId: 'r1' });
    await run.open('m1');
    await run.ask(0, 'c1');
    await store.settleBatch(run.writer(), { ref: run.ref(), step: 0, settlement: { c1: { status: 'timed_out' } } });
    const before = await store.entries('s');
    expect(await run.endCall(0, 'c1')).toMatchObject({ callId: 'c1', status: 'timed_out' });
    expect(await run.startCall(0, 'c1')).toMatchObject({ status: 'done', result: { status: 'timed_out' } });
    expect(await store.entries('s')).toEqual(before);
  });

  test('settling twice and closing leave one result batch', async () => {
    const store = await make();
    const run = new Execution(store, { sessionId: 's', runId: 'r1' });
    await run.open('m1');
    await run.ask(0, 'c1');
    const settled = await store.settleBatch(run.writer(), { ref: run.ref(), step: 0, settlement: {} });
    expect(await store.settleBatch(run.writer(), { ref: run.ref(), step: 0, settlement: {} })).toEqual(settled);
    await run.answer('m1');
    expect((await store.entries('s')).filter(({ item }) => item.kind === 'tool_result_batch')).toHaveLength(1);
  });

  test('closing a run closes its open batch', async () => {
    const store = await make();
    const run = new Execution(store, { sessionId: 's', runId: 'r1' });
    await run.open('m1');
    await run.ask(0, 'began', 'never');
    await run.startCall(0, 'began');
    await run.close({ type: 'run_failed', error: 'Internal', message: 'x', hint: 'y', answers: ['m1'] });
    expect((await store.entries('s')).at(-1)?.item).toMatchObject({
      results: [
        { callId: 'began', status: 'unknown_outcome' },
        { callId: 'never', status: 'aborted' },
      ],
    });
  });

  test.each([
    ['anything behind an open batch', [batchItem('c0')], [assistantItem('x')]],
    ['a second batch behind an open one', [batchItem('c0')], [batchItem('c1')]],
    ['a call id of an earlier batch', [], [batchItem('old')]],
    ['a batch that is not the last of its response', [], [batchItem('c1'), assistantItem('x')]],
    ['a batch without calls', [], [batchItem()]],
    ['results without a batch', [], [{ kind: 'tool_result_batch', schemaVersion: 1, results: [] }]],
    ['one call id twice in a batch', [], [batchItem('c1', 'c1')]],
    ['a summary', [], [{ kind: 'compaction_summary', schemaVersion: 1, compactionId: 'k', text: 'x' }]],
  ] as const)('%s is refused, and nothing is written', async (_, earlier, items) => {
    const store = await make();
    const run = new Execution(store, { sessionId: 's', runId: 'r1' });
    await run.open('m1');
    await run.ask(0, 'old');
    for (const step of [1, 2]) await run.begin(step);
    await run.commit(1, earlier);
    const before = [await store.entries('s'), await store.events('r1')];
    await expect(run.commit(2, items, { events: [requested(2, 'c1')] })).rejects.toMatchObject({
      name: 'StoreError',
      code: 'Internal',
    });
    expect([await store.entries('s'), await store.events('r1')]).toEqual(before);
    expect(await run.commit(2, [])).toMatchObject({ status: 'committed' });
  });

  test('a step that was never begun cannot be committed', async () => {
    const store = await make();
    const run = new Execution(store, { sessionId: 's', runId: 'r1' });
    await run.open('m1');
    await expect(run.commit(0, [])).rejects.toMatchObject({ code: 'Internal' });
  });
});
