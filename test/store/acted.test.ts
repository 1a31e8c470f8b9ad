import { describe, expect, test } from 'vitest';
import { Execution } from './scenario.ts';
import { availableStores } from './stores.ts';

describe.each(availableStores())('$kind: whether a run has acted', ({ make }) => {
  test('a call with effects counts from its step on, a read-only or a denied one never', async () => {
    const store = await make();
    const run = new Execution(store, { sessionId: 's', runId: 'r1' });
    await run.open('m1');
    await run.ask(0, 'a', 'b', 'c');
    await run.startCall(0, 'a', { effect: 'read_only' });
    expect(await store.hasActed('r1', 0)).toBe(false);
    await run.startCall(0, 'b', { effect: 'at_most_once' });
    await store.commitCall(run.writer({ activityId: 'call-b' }), {
      ref: run.ref(),
      step: 0,
      callId: 'b',
      name: 'look',
      result: { callId: 'b', status: 'denied', content: [] },
      events: [],
    });
    expect(await store.hasActed('r1', 0)).toBe(false);
    await run.startCall(0, 'c', { effect: 'idempotent' });
    expect(await store.hasActed('r1', 0)).toBe(true);
    expect(await store.hasActed('r1', 1)).toBe(false);
    expect(await store.hasActed('another', 0)).toBe(false);
  });
});
