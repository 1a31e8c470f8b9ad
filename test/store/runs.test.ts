import { describe, expect, test } from 'vitest';
import { TERMINAL_EVENT_TYPES } from '../../src/transcript/events.ts';
import { assistantItem, Execution, message } from './scenario.ts';
import { availableStores } from './stores.ts';

const USAGE = { inputTokens: 10, outputTokens: 5, cacheReadTokens: 4, cacheWriteTokens: 1, reasoningTokens: 2 };

describe.each(availableStores())('$kind: runs', ({ make }) => {
  test('opening a run writes its message, its row and its first events', async () => {
    const store = await make({ now: () => 0 });
    const run = new Execution(store, { sessionId: 's', runId: 'r1' });
    const opened = await run.open('m1', [message('m2')]);
    const { storeId } = await store.identity();

    expect(opened).toEqual({ status: 'open', storeId, head: 1 });
    expect(await store.entries('s')).toEqual([
      {
        seq: 1,
        runId: 'r1',
        step: 0,
        item: {
          kind: 'user_message',
          schemaVersion: 1,
          messageId: 'm1',
          origin: 'user',
          content: [{ type: 'text', text: 'text of m1' }],
        },
      },
    ]);
    expect((await store.events('r1')).map(({ index, at, event }) => [index, at, event])).toEqual([
      [
        0,
        '1970-01-01T00:00:00.000Z',
        { type: 'run_started', messageId: 'm1', agent: 'helper', model: 'offline/echo', prompt: 'text of m1' },
      ],
      [
        1,
        '1970-01-01T00:00:00.000Z',
        { type: 'user_message_queued', messageId: 'm2', mode: 'follow_up', preview: 'text of m2' },
      ],
    ]);
    expect(await store.run('r1')).toMatchObject({
      status: 'running',
      sessionId: 's',
      owner: 'execution-1',
      completedAt: null,
      messageIds: ['m1'],
      config: { maxToolTurns: 10 },
    });
    expect(await store.session('s')).toMatchObject({ title: 'text of m1', runs: 1, lastStatus: 'running', lastSeq: 1 });
    expect(await store.runOfMessage('s', 'm1')).toBe('r1');
    expect(await store.runOfMessage('s', 'm2')).toBeUndefined();
  });

  test('opening a run again changes nothing', async () => {
    const store = await make();
    const run = new Execution(store, { sessionId: 's', runId: 'r1' });
    const first = await run.open('m1');
    expect(await run.open('m1')).toEqual(first);
    expect(await store.entries('s')).toHaveLength(1);
    expect(await store.events('r1')).toHaveLength(1);
  });

  test('closing a run fills in its totals and ends every message it took in or drops', async () => {
    const store = await make();
    const run = new Execution(store, { sessionId: 's', runId: 'r1' });
    await run.open('m1', [message('m2'), message('m3')]);
    await run.begin(0, { joined: ['m2'] });
    await run.commit(0, [assistantItem('so')], { usage: USAGE, costUsd: 0.25 });
    await run.begin(1);
    await run.commit(1, [assistantItem('done')], { usage: USAGE, costUsd: 0.5 });
    const closed = await run.close({ type: 'loop_aborted', reason: 'stop', answers: ['m1'] }, { dropped: ['m3'] });

    expect(closed).toMatchObject({ status: 'cancelled', head: 3, final: { answers: ['m1', 'm2', 'm3'] } });
    for (const id of ['m1', 'm2', 'm3']) {
      expect(await store.outcome('s', id)).toEqual({ messageId: id, runId: 'r1', event: closed.final });
    }
    expect(await store.run('r1')).toMatchObject({
      status: 'cancelled',
      steps: 2,
      costUsd: 0.75,
      usage: { inputTokens: 20, outputTokens: 10, cacheReadTokens: 8, cacheWriteTokens: 2, reasoningTokens: 4 },
    });
  });

  test('an answer carries steps, usage and cost, and no cost when a step has no price', async () => {
    const store = await make();
    const run = new Execution(store, { sessionId: 's', runId: 'r1' });
    await run.open('m1');
    await run.begin(0);
    await run.commit(0, [], { usage: USAGE, costUsd: 0.25 });
    await run.begin(1);
    await run.commit(1, [assistantItem('done')], { usage: null, costUsd: null });
    const { final } = await run.answer('m1');
    expect(final).toEqual({
      type: 'final_response',
      text: 'done',
      answers: ['m1'],
      steps: 2,
      usage: USAGE,
      costUsd: null,
    });
  });

  test('a message dropped by an answered run ends in an abort of its own', async () => {
    const store = await make();
    const run = new Execution(store, { sessionId: 's', runId: 'r1' });
    await run.open('m1', [message('m2')]);
    await run.close({ type: 'final_response', text: 'done', answers: ['m1'] }, { dropped: ['m2'] });
    expect(await store.outcome('s', 'm1')).toMatchObject({ event: { type: 'final_response', answers: ['m1'] } });
    expect(await store.outcome('s', 'm2')).toMatchObject({ event: { type: 'loop_aborted', answers: ['m2'] } });
    expect((await store.events('r1')).at(-1)?.event.type).toBe('final_response');
  });

  test('a closed run tells its stored ending to every write and takes none', async () => {
    const store = await make();
    const run = new Execution(store, { sessionId: 's', runId: 'r1' });
    await run.open('m1');
    const closed = await run.answer('m1');
    const events = await store.events('r1');

    expect(await run.close({ type: 'run_failed', error: 'X', message: 'x', hint: '', answers: ['m1'] })).toEqual(
      closed,
    );
    expect(await run.open('m1')).toMatchObject({ status: 'closed', runStatus: 'completed', head: 1 });
    expect(await run.begin(0)).toEqual({ status: 'closed', runStatus: 'completed', head: 1 });
    expect(await run.commit(0, [assistantItem('late')])).toEqual({ status: 'closed', runStatus: 'completed', head: 1 });
    expect(await run.startCall(0, 'c')).toEqual({ status: 'closed', runStatus: 'completed' });
    await store.appendDeltas(run.writer(), {
      ref: run.ref(),
      step: 0,
      attempt: 1,
      from: 0,
      deltas: [{ kind: 'text', text: 'late' }],
    });
    expect(await store.settleBatch(run.writer(), { ref: run.ref(), step: 0, settlement: {} })).toEqual({ head: 1 });
    expect(await store.events('r1')).toEqual(events);
    expect(await store.deltas('r1')).toBeUndefined();
  });

  test('a message that ended opens no second run', async () => {
    const store = await make();
    const run = new Execution(store, { sessionId: 's', runId: 'r1' });
    await run.open('m1');
    const { final } = await run.answer('m1');
    const again = new Execution(store, { sessionId: 's', runId: 'r2', owner: 'execution-2', scheduledAtMs: 2_000 });
    expect(await again.open('m1')).toMatchObject({
      status: 'ended',
      outcome: { messageId: 'm1', runId: 'r1', event: final },
    });
    expect(await store.run('r2')).toBeUndefined();
    expect(await store.entries('s')).toHaveLength(1);
  });

  test('the first ending of a message stays', async () => {
    const store = await make();
    const first = new Execution(store, { sessionId: 's', runId: 'r1' });
    await first.open('m1', [message('m2')]);
    const ended = await first.close({ type: 'loop_aborted', reason: 'stop', answers: ['m1'] }, { dropped: ['m2'] });
    const second = new Execution(store, { sessionId: 's', runId: 'r2' });
    await second.open('m3');
    const { final } = await second.answer('m2', 'm3');
    expect(final.answers).toEqual(['m3']);
    expect(await store.outcome('s', 'm2')).toMatchObject({ runId: 'r1', event: ended.final });
  });

  test('runs of one session are numbered in order and each ends in exactly one terminal event', async () => {
    const store = await make();
    for (const n of [1, 2, 3]) {
      const run = new Execution(store, { sessionId: 's', runId: `r${n}` });
      await run.open(`m${n}`);
      await run.answer(`m${n}`);
    }
    expect((await store.runs('s')).map((run) => run.runId)).toEqual(['r1', 'r2', 'r3']);
    for (const run of ['r1', 'r2', 'r3']) {
      const events = await store.events(run);
      expect(events.filter(({ event }) => TERMINAL_EVENT_TYPES.some((type) => type === event.type))).toHaveLength(1);
    }
    expect(await store.session('s')).toMatchObject({ runs: 3, lastRunId: 'r3', lastStatus: 'completed' });
  });
});
