import { describe, expect, test } from 'vitest';
import { validate } from '../../src/transcript/validate.ts';
import { Execution, message } from './scenario.ts';
import { availableStores } from './stores.ts';

describe.each(availableStores())('$kind: a run whose workflow vanished', ({ make }) => {
  test('is ended by the next run of its session, its batch closed and its messages answered', async () => {
    const store = await make();
    const gone = new Execution(store, { sessionId: 's', runId: 'gone' });
    await gone.open('m1', [message('m2')]);
    await gone.ask(0, 'finished', 'running', 'waiting');
    await gone.startCall(0, 'finished');
    await gone.endCall(0, 'finished');
    await gone.startCall(0, 'running');
    await store.appendDeltas(gone.writer({ activityId: 'x' }), {
      ref: gone.ref(),
      step: 0,
      attempt: 1,
      from: 0,
      deltas: [{ kind: 'text', text: 'x' }],
    });

    const next = new Execution(store, { sessionId: 's', runId: 'next', owner: 'execution-2', scheduledAtMs: 2_000 });
    expect(await next.open('m3')).toMatchObject({ status: 'open', head: 4 });

    const items = (await store.entries('s')).map((entry) => entry.item);
    expect(validate(items, { tail: 'closed' })).toEqual([]);
    expect(items[2]).toMatchObject({
      results: [
        { callId: 'finished', status: 'ok' },
        { callId: 'running', status: 'unknown_outcome' },
        { callId: 'waiting', status: 'aborted' },
      ],
    });
    expect(await store.run('gone')).toMatchObject({ status: 'abandoned' });
    expect((await store.run('gone'))?.completedAt).not.toBeNull();
    for (const id of ['m1', 'm2']) {
      expect(await store.outcome('s', id)).toMatchObject({
        runId: 'gone',
        event: { type: 'run_failed', error: 'RunAbandoned', answers: ['m1', 'm2'] },
      });
    }
    expect((await store.events('gone')).at(-1)?.event.type).toBe('run_failed');
    expect(await store.outcome('s', 'm3')).toBeUndefined();
    expect(await gone.answer('m1').catch((error: unknown) => error)).toMatchObject({ code: 'Fenced' });
  });

  test('keeps what its successor carries on: the message opens a new run only if it is another', async () => {
    const store = await make();
    const gone = new Execution(store, { sessionId: 's', runId: 'gone' });
    await gone.open('m1', [message('m2'), message('m3')]);
    const next = new Execution(store, { sessionId: 's', runId: 'next', owner: 'execution-2', scheduledAtMs: 2_000 });
    expect(await next.open('m2', [message('m3')])).toMatchObject({ status: 'open' });
    expect(await store.outcome('s', 'm1')).toMatchObject({ event: { answers: ['m1'] } });
    expect(await store.outcome('s', 'm2')).toBeUndefined();
    expect(await store.outcome('s', 'm3')).toBeUndefined();
  });

  test('answers its own message, sent again, with its failure', async () => {
    const store = await make();
    const gone = new Execution(store, { sessionId: 's', runId: 'gone' });
    await gone.open('m1');
    const next = new Execution(store, { sessionId: 's', runId: 'next', owner: 'execution-2', scheduledAtMs: 2_000 });
    expect(await next.open('m1')).toMatchObject({
      status: 'ended',
      outcome: { runId: 'gone', event: { type: 'run_failed' } },
    });
    expect(await store.run('next')).toBeUndefined();
  });

  test('a message that waited behind a closed run and was lost with the chain fails too', async () => {
    const store = await make();
    const closed = new Execution(store, { sessionId: 's', runId: 'closed' });
    await closed.open('m1', [message('m2')]);
    await closed.answer('m1');
    const next = new Execution(store, { sessionId: 's', runId: 'next', owner: 'execution-2', scheduledAtMs: 2_000 });
    await next.open('m3');
    expect(await store.outcome('s', 'm2')).toMatchObject({
      runId: 'closed',
      event: { type: 'run_failed', answers: ['m2'] },
    });
    expect((await store.events('closed')).map(({ index }) => index)).toEqual([0, 1, 2, 3]);
  });

  test('a message that waited through several runs fails with the last of them', async () => {
    const store = await make();
    const first = new Execution(store, { sessionId: 's', runId: 'r1' });
    await first.open('m1', [message('m2'), message('m3')]);
    await first.answer('m1');
    const second = new Execution(store, { sessionId: 's', runId: 'r2' });
    await second.open('m2', [message('m3')]);
    const next = new Execution(store, { sessionId: 's', runId: 'r3', owner: 'execution-2', scheduledAtMs: 2_000 });
    await next.open('m4');
    expect(await store.outcome('s', 'm3')).toMatchObject({ runId: 'r2', event: { answers: ['m2', 'm3'] } });
  });

  test('other sessions are left alone', async () => {
    const store = await make();
    const other = new Execution(store, { sessionId: 'other', runId: 'theirs' });
    await other.open('m1');
    await new Execution(store, { sessionId: 's', runId: 'mine' }).open('m2');
    expect(await store.run('theirs')).toMatchObject({ status: 'running' });
  });
});
