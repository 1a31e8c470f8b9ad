import { describe, expect, test } from 'vitest';
import { copyStore } from '../../src/store/copy-store.ts';
import type { AgentEvent } from '../../src/transcript/events.ts';
import { batchItem, Execution, requested } from './scenario.ts';
import { availableStores } from './stores.ts';

type Resolved = Extract<AgentEvent, { type: 'approval_resolved' }>;

function asks(callId: string, more: { name?: string; deadline?: string } = {}): AgentEvent {
  const { name = 'look', deadline = '2030-01-01T00:00:00.000Z' } = more;
  return {
    type: 'approval_requested',
    step: 0,
    callId,
    name,
    label: `look ${callId}`,
    argumentsHash: 'hash',
    deadline,
  };
}

function resolved(callId: string, decision: Resolved['decision'] = 'approve'): Resolved {
  return { type: 'approval_resolved', step: 0, callId, decision, by: 'somebody' };
}

describe.each(availableStores())('$kind: approvals', ({ make, location, openAt }) => {
  async function asking(...calls: readonly string[]): Promise<Execution> {
    const run = new Execution(await make(), { sessionId: 's', runId: 'r1' });
    await run.open('m1');
    await run.begin(0);
    await run.commit(0, [batchItem(...calls)], {
      events: [...calls.map((callId) => requested(0, callId)), ...calls.map((callId) => asks(callId))],
    });
    return run;
  }
  const status = async ({ store }: Execution) => (await store.run('r1'))?.status;
  const open = async ({ store }: Execution, sessionId?: string) =>
    (await store.openApprovals(sessionId)).map(({ callId }) => callId);

  function begin(run: Execution, callId: string, decision: Resolved, attempt = 1) {
    return run.store.beginCall(run.writer({ activityId: `call-${callId}`, attempt }), {
      ref: run.ref(),
      step: 0,
      callId,
      name: 'look',
      effect: 'idempotent',
      leaseMs: 0,
      event: { type: 'tool_call_started', step: 0, callId, name: 'look', label: 'look', attempt },
      decision,
    });
  }

  function deny(run: Execution, callId: string) {
    return run.store.commitCall(run.writer({ activityId: `call-${callId}` }), {
      ref: run.ref(),
      step: 0,
      callId,
      name: 'look',
      result: { callId, status: 'denied', content: [{ type: 'text', text: 'no' }] },
      events: [
        resolved(callId, 'deny'),
        { type: 'tool_call_failed', step: 0, callId, name: 'look', status: 'denied', preview: 'no', durationMs: 0 },
      ],
    });
  }

  test('a run waits from the commit that asks until the last question is answered', async () => {
    const run = await asking('c1', 'c2');
    expect(await status(run)).toBe('waiting');
    expect(await open(run)).toEqual(['c1', 'c2']);
    expect(await begin(run, 'c1', resolved('c1'))).toEqual({ status: 'run' });
    expect(await status(run)).toBe('waiting');
    expect(await open(run, 's')).toEqual(['c2']);
    await deny(run, 'c2');
    expect(await status(run)).toBe('running');
    expect(await open(run)).toEqual([]);
    expect(await open(run, 'another')).toEqual([]);
  });

  test('what is asked comes back with all that people need, the nearest deadline first', async () => {
    const store = await make();
    for (const [sessionId, deadline] of [
      ['later', '2030-01-02T00:00:00.000Z'],
      ['sooner', '2030-01-01T00:00:00.000Z'],
    ] as const) {
      const run = new Execution(store, { sessionId, runId: `run of ${sessionId}` });
      await run.open('m1');
      await run.begin(0);
      await run.commit(0, [batchItem('c1')], { events: [asks('c1', { deadline, name: 'a\0b' })] });
    }
    const found = await store.openApprovals();
    expect(found.map(({ sessionId }) => sessionId)).toEqual(['sooner', 'later']);
    expect(found[0]).toEqual({
      sessionId: 'sooner',
      runId: 'run of sooner',
      step: 0,
      callId: 'c1',
      name: 'a\ufffdb',
      label: 'look c1',
      argumentsHash: 'hash',
      deadline: '2030-01-01T00:00:00.000Z',
      askedAt: expect.stringMatching(/Z$/),
    });
  });

  test('an answer is told once, however often the call begins', async () => {
    const run = await asking('c1');
    for (const attempt of [1, 2, 3]) expect(await begin(run, 'c1', resolved('c1'), attempt)).toEqual({ status: 'run' });
    await run.endCall(0, 'c1', { attempt: 3 });
    const events = (await run.store.events('r1')).map(({ event }) => event.type);
    expect(events.filter((type) => type === 'approval_resolved')).toHaveLength(1);
    expect(events.filter((type) => type === 'tool_call_started')).toHaveLength(3);
    expect(events.indexOf('approval_resolved')).toBeLessThan(events.indexOf('tool_call_started'));
  });

  test('only an approval for the session is a grant, for its tool in its session', async () => {
    const run = await asking('c1', 'c2');
    await begin(run, 'c1', resolved('c1'));
    expect(await run.store.grants('s')).toEqual([]);
    await begin(run, 'c2', resolved('c2', 'approve_session'));
    expect(await run.store.grants('s')).toEqual(['look']);
    expect(await run.store.grants('another')).toEqual([]);
  });

  test('questions end with their step and with their run', async () => {
    const run = await asking('c1');
    await run.begin(1);
    expect(await open(run)).toEqual([]);
    expect(await status(run)).toBe('running');

    const cancelled = await asking('c1');
    await cancelled.close({ type: 'loop_aborted', reason: 'enough', answers: ['m1'] });
    expect(await open(cancelled)).toEqual([]);
    expect(await status(cancelled)).toBe('cancelled');
  });

  test('a copy of the store asks and grants as before', async () => {
    const [from, to] = [await location(), await location()];
    const run = new Execution(await openAt(from), { sessionId: 's', runId: 'r1' });
    await run.open('m1');
    await run.begin(0);
    await run.commit(0, [batchItem('c1', 'c2')], { events: [asks('c1'), asks('c2')] });
    await begin(run, 'c1', resolved('c1', 'approve_session'));
    await run.store.close();
    await copyStore(from, to);
    const copy = await openAt(to);
    expect((await copy.openApprovals()).map(({ callId }) => callId)).toEqual(['c2']);
    expect(await copy.grants('s')).toEqual(['look']);
  });
});
