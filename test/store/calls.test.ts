import { describe, expect, test } from 'vitest';
import { Execution } from './scenario.ts';
import { availableStores } from './stores.ts';

/** A store whose clock the test moves. */
function clock(): { readonly now: () => number; readonly pass: (ms: number) => void } {
  let at = 1_000_000;
  return {
    now: () => at,
    pass: (ms) => {
      at += ms;
    },
  };
}

describe.each(availableStores())('$kind: the effect ledger', ({ make }) => {
  test.each(['read_only', 'idempotent'] as const)('a %s call begins again with each attempt', async (effect) => {
    const store = await make();
    const run = new Execution(store, { sessionId: 's', runId: 'r1' });
    await run.open('m1');
    await run.ask(0, 'c1');
    expect(await run.startCall(0, 'c1', { effect, attempt: 1 })).toEqual({ status: 'run' });
    expect(await run.startCall(0, 'c1', { effect, attempt: 2 })).toEqual({ status: 'run' });
    await expect(run.endCall(0, 'c1', { attempt: 1 })).rejects.toMatchObject({ code: 'Fenced' });
    expect(await run.endCall(0, 'c1', { attempt: 2 })).toMatchObject({ status: 'ok' });
    const started = (await store.events('r1')).flatMap(({ event }) =>
      event.type === 'tool_call_started' ? [event.attempt] : [],
    );
    expect(started).toEqual([1, 2]);
  });

  test('an at-most-once call runs once: a later attempt waits for a fresh lease and may take its result', async () => {
    const time = clock();
    const store = await make({ now: time.now });
    const run = new Execution(store, { sessionId: 's', runId: 'r1' });
    await run.open('m1');
    await run.ask(0, 'c1');
    const once = { effect: 'at_most_once', leaseMs: 1_000 } as const;
    expect(await run.startCall(0, 'c1', once)).toEqual({ status: 'run' });
    expect(await run.startCall(0, 'c1', once)).toEqual({ status: 'run' });
    time.pass(900);
    expect(await run.startCall(0, 'c1', { ...once, attempt: 2 })).toEqual({ status: 'leased', untilMs: 1_001_000 });
    await store.renewLease(run.writer({ activityId: 'call-c1' }), 'c1', 1_000);
    time.pass(900);
    expect(await run.startCall(0, 'c1', { ...once, attempt: 2 })).toEqual({ status: 'leased', untilMs: 1_001_900 });
    await run.endCall(0, 'c1', { attempt: 1 });
    expect(await run.startCall(0, 'c1', { ...once, attempt: 2 })).toMatchObject({
      status: 'done',
      result: { status: 'ok', preview: 'result of c1' },
    });
  });

  test('an at-most-once call whose lease ran out is lost, never run again, and its late result is kept aside', async () => {
    const time = clock();
    const store = await make({ now: time.now });
    const run = new Execution(store, { sessionId: 's', runId: 'r1' });
    await run.open('m1');
    await run.ask(0, 'c1');
    const once = { effect: 'at_most_once', leaseMs: 1_000 } as const;
    await run.startCall(0, 'c1', once);
    time.pass(1_000);
    expect(await run.startCall(0, 'c1', { ...once, attempt: 2 })).toEqual({ status: 'lost' });
    expect(await run.startCall(0, 'c1', { ...once, attempt: 3 })).toEqual({ status: 'lost' });
    await expect(run.endCall(0, 'c1', { attempt: 1, text: 'late' })).rejects.toMatchObject({ code: 'Fenced' });
    expect(await store.callResult('r1', 'c1')).toBeUndefined();
    await run.begin(1);
    expect((await store.entries('s')).at(-1)?.item).toMatchObject({ results: [{ status: 'unknown_outcome' }] });
    expect(await store.lateResult('s', 'c1')).toMatchObject({ content: [{ text: 'late' }] });
  });

  test('a lease is extended by its holder only', async () => {
    const time = clock();
    const store = await make({ now: time.now });
    const run = new Execution(store, { sessionId: 's', runId: 'r1' });
    await run.open('m1');
    await run.ask(0, 'c1');
    const once = { effect: 'at_most_once', leaseMs: 1_000 } as const;
    await run.startCall(0, 'c1', once);
    await store.renewLease(run.writer({ activityId: 'another' }), 'c1', 9_000);
    expect(await run.startCall(0, 'c1', { ...once, attempt: 2 })).toEqual({ status: 'leased', untilMs: 1_001_000 });
  });

  test('a call that no batch asks for is refused', async () => {
    const store = await make();
    const run = new Execution(store, { sessionId: 's', runId: 'r1' });
    await run.open('m1');
    await expect(run.startCall(0, 'nobody')).rejects.toMatchObject({ code: 'Internal' });
    await expect(run.endCall(0, 'nobody')).rejects.toMatchObject({ code: 'Internal' });
  });

  test('the first result of a call stays', async () => {
    const store = await make();
    const run = new Execution(store, { sessionId: 's', runId: 'r1' });
    await run.open('m1');
    await run.ask(0, 'c1');
    const first = await run.endCall(0, 'c1', { text: 'first' });
    expect(first).toEqual({ callId: 'c1', status: 'ok', preview: 'first', bytes: 5 });
    expect(await run.endCall(0, 'c1', { text: 'second' })).toEqual(first);
    expect(await store.callResult('r1', 'c1')).toEqual(first);
    const ends = (await store.events('r1')).filter(({ event }) => event.type === 'tool_call_completed');
    expect(ends).toHaveLength(1);
  });
});

describe.each(availableStores())('$kind: whole outputs', ({ make }) => {
  test('any range comes back unit by unit, whatever the text holds', async () => {
    const store = await make();
    const run = new Execution(store, { sessionId: 's', runId: 'r1' });
    await run.open('m1');
    await run.ask(0, 'c1', 'c2', 'c3');
    // A pair of surrogates across the border of two stored pieces, halves of pairs, NUL, and plain text.
    const text = `${'x'.repeat(65_535)}😀\ud800\0\udc00é${'y'.repeat(70_000)}😀`;
    await run.endCall(0, 'c1', { fullOutput: text });
    await run.endCall(0, 'c2');
    await run.endCall(0, 'c3', { fullOutput: '' });
    const ranges = [
      [0, 10],
      [65_530, 65_545],
      [65_536, 65_537],
      [0, text.length],
      [131_071, 131_073],
      [text.length - 1, text.length + 50],
      [-5, 3],
      [7, 7],
      [9, 3],
      [text.length + 1, text.length + 2],
    ] as const;
    for (const [start, end] of ranges) {
      const expected = { text: text.slice(Math.max(0, start), Math.max(0, end)), total: text.length };
      expect(await store.toolOutput('s', 'c1', { start, end })).toEqual(expected);
    }
    expect(await store.callResult('r1', 'c1')).toMatchObject({ bytes: Buffer.byteLength(text) });
    expect(await store.toolOutput('s', 'c2', { start: 0, end: 10 })).toBeUndefined();
    expect(await store.toolOutput('s', 'c3', { start: 0, end: 10 })).toEqual({ text: '', total: 0 });
    expect(await store.toolOutput('s', 'nobody', { start: 0, end: 10 })).toBeUndefined();
  });
});
