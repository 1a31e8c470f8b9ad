import { describe, expect, test } from 'vitest';
import { Execution } from './scenario.ts';
import { availableStores } from './stores.ts';

describe.each(availableStores())('$kind: calls that were lost', ({ make }) => {
  /** A call whose first attempt died: its lease has run out, and a second attempt has begun. */
  async function lost() {
    let at = 1_000_000;
    const run = new Execution(await make({ now: () => at }), { sessionId: 's', runId: 'r1' });
    await run.open('m1');
    await run.ask(0, 'c1');
    await start(run, 1);
    at += 1_000;
    expect(await start(run, 2)).toEqual({ status: 'lost' });
    const pass = (ms: number): void => {
      at += ms;
    };
    return { run, pass };
  }

  function start(run: Execution, attempt: number, takeOver?: true) {
    return run.store.beginCall(run.writer({ activityId: 'call-c1', attempt }), {
      ref: run.ref(),
      step: 0,
      callId: 'c1',
      name: 'look',
      effect: 'at_most_once',
      leaseMs: 1_000,
      event: { type: 'tool_call_started', step: 0, callId: 'c1', name: 'look', label: 'look', attempt },
      ...(takeOver === undefined ? {} : { takeOver }),
    });
  }

  const unknown = (run: Execution, attempt: number) =>
    run.store.commitCall(run.writer({ activityId: 'call-c1', attempt }), {
      ref: run.ref(),
      step: 0,
      callId: 'c1',
      name: 'look',
      result: { callId: 'c1', status: 'unknown_outcome', content: [{ type: 'text', text: 'who knows' }] },
      events: [],
    });

  test('one that is known not to have been done is taken over, with a lease like the first', async () => {
    const { run, pass } = await lost();
    expect(await start(run, 2, true)).toEqual({ status: 'run' });
    expect(await start(run, 3)).toEqual({ status: 'leased', untilMs: 1_002_000 });
    await run.store.renewLease(run.writer({ activityId: 'call-c1', attempt: 2 }), 'c1', 5_000);
    expect(await start(run, 3, true)).toEqual({ status: 'leased', untilMs: 1_006_000 });
    pass(5_000);
    expect(await start(run, 3)).toEqual({ status: 'lost' });
    await expect(start(run, 2, true)).rejects.toMatchObject({ code: 'Fenced' });
    expect(await start(run, 3, true)).toEqual({ status: 'run' });
    expect(await run.endCall(0, 'c1', { attempt: 3 })).toMatchObject({ status: 'ok' });
  });

  test('what one comes back with after all is told once, also when its outcome was committed as unknown', async () => {
    const { run } = await lost();
    await unknown(run, 2);
    expect(await run.store.lateResults('s')).toEqual([]);
    await expect(run.endCall(0, 'c1', { attempt: 1, text: 'late' })).rejects.toMatchObject({ code: 'Fenced' });
    const late = await run.store.lateResults('s');
    expect(late).toMatchObject([{ callId: 'c1', name: 'look', result: { status: 'ok', content: [{ text: 'late' }] } }]);
    expect(await run.store.lateResults('another')).toEqual([]);
    const writer = run.writer({ activityId: 'step-1' });
    const step = { step: 1, settlement: {}, append: [], joined: [], events: [] };
    await run.store.beginStep(writer, { ref: run.ref(), ...step, toldLate: ['c1'] });
    expect(await run.store.lateResults('s')).toEqual([]);
    expect(await run.store.lateResult('s', 'c1')).toBeDefined();
  });

  test('nothing is late of a call that has a result of its own', async () => {
    const { run } = await lost();
    await start(run, 2, true);
    await run.endCall(0, 'c1', { attempt: 2, text: 'mine' });
    await expect(run.endCall(0, 'c1', { attempt: 1, text: 'late' })).rejects.toMatchObject({ code: 'Fenced' });
    expect(await run.store.lateResults('s')).toEqual([]);
  });
});
