import { describe, expect, test } from 'vitest';
import type { AgentEvent } from '../../src/transcript/events.ts';
import type { Usage } from '../../src/transcript/message.ts';
import { assistantItem, Execution, edit } from './scenario.ts';
import { availableStores } from './stores.ts';
import { expectWhole } from './whole.ts';

const STARTED: AgentEvent = { type: 'compaction_started', compactionId: 'c1', trigger: 'manual', tokensBefore: 9 };
const FENCED = { name: 'StoreError', code: 'Fenced', retryable: false };

function usage(inputTokens: number): Usage {
  return { inputTokens, outputTokens: 1, cacheReadTokens: 2, cacheWriteTokens: 3, reasoningTokens: 4 };
}

describe.each(availableStores())('$kind: phases of a compaction', ({ location, make, openAt }) => {
  async function opened() {
    const store = await make();
    const run = new Execution(store, { sessionId: 's', runId: 'r1' });
    await run.open('m1');
    await run.begin(0);
    await run.commit(0, [assistantItem('first')]);
    return { store, run };
  }

  test('a phase is committed once, with all that belongs to it; asking again gets what is stored', async () => {
    const { store, run } = await opened();
    const fact = { factId: 'f1', scope: 'session', kind: 'memory', text: 'tea', status: 'active' } as const;
    const more = {
      output: { won: 'first' },
      edits: [edit(2)],
      revision: 'start/0',
      events: [STARTED],
      facts: [{ ...fact, sourceSeq: 1, source: {} }],
      usage: [{ model: 'offline/echo', usage: usage(1), costUsd: 0.5 }],
    };
    const first = await run.phase('c1', 'plan', more);
    expect(first).toEqual({ status: 'committed', output: { won: 'first' }, revision: 'start/1' });
    const again = await run.phase('c1', 'plan', { ...more, output: { won: 'second' }, revision: 'start/1' });
    expect(again).toEqual(first);
    // Whatever the revision is by then: what it was made for is stored.
    expect(await run.phase('c1', 'plan', more)).toEqual(first);

    expect(await store.viewEdits('s')).toEqual([edit(2)]);
    expect(await store.facts({ sessionId: 's' })).toHaveLength(1);
    expect((await store.events('r1')).map(({ event }) => event.type)).toEqual(['run_started', 'compaction_started']);
    expect(await store.run('r1')).toMatchObject({ steps: 1, usage: usage(1) });
    expect(await store.phases('c1')).toMatchObject([
      { compactionId: 'c1', phase: 'plan', runId: 'r1', output: { won: 'first' }, usage: more.usage },
    ]);
    expect(await run.begin(1)).toMatchObject({ status: 'begun', revision: 'start/1' });
  });

  test('workers that commit the same phase at once agree on one outcome', async () => {
    const place = await location();
    const stores = [await openAt(place), await openAt(place)];
    const [run, other] = stores.map((store) => new Execution(store, { sessionId: 's', runId: 'r1' }));
    if (run === undefined || other === undefined) throw new Error('both were made');
    await run.open('m1');
    Object.assign(other, { storeId: run.storeId, head: run.head });
    const tries = [1, 2, 3, 4].map((n) => {
      const who = n % 2 === 0 ? run : other;
      return who.phase('c1', 'summary', { output: { n }, events: [STARTED] }, who.writer({ activityId: `try-${n}` }));
    });
    const told = await Promise.all(tries);
    expect(new Set(told.map((each) => JSON.stringify(each))).size).toBe(1);
    for (const store of stores) {
      expect(await store.phases('c1')).toHaveLength(1);
      expect(await store.events('r1')).toHaveLength(2);
    }
  });

  test('phases come back in the order in which they were committed, equal times or not', async () => {
    const store = await make({ now: () => 1_000 });
    const run = new Execution(store, { sessionId: 's', runId: 'r1' });
    await run.open('m1');
    const phases = ['plan', 'flush', 'summary/2', 'summary/10', 'summary/1', 'summary', 'result'];
    for (const phase of phases) await run.phase('c2', phase);
    for (const phase of ['plan', 'result']) await run.phase('c1', phase);
    expect((await store.phases('c2')).map(({ phase }) => phase)).toEqual(phases);
    expect((await store.compactionResults('s')).map(({ compactionId }) => compactionId)).toEqual(['c2', 'c1']);
    expect(await store.compactionResults('other')).toEqual([]);
  });

  test('what was made for another revision of the view is stale, and nothing of it is written', async () => {
    const { store, run } = await opened();
    await run.phase('c1', 'plan', { edits: [edit(2)], revision: 'start/0' });
    const fact = { factId: 'f', scope: 'session', kind: 'memory', text: 'x', status: 'active' } as const;
    const late = {
      edits: [edit(2, 'other')],
      revision: 'start/0',
      events: [STARTED],
      facts: [{ ...fact, sourceSeq: null, source: {} }],
      usage: [{ model: 'm', usage: usage(1), costUsd: 1 }],
    };
    expect(await run.phase('c2', 'plan', late)).toEqual({ status: 'stale', revision: 'start/1' });
    expect(await store.phases('c2')).toEqual([]);
    expect(await store.viewEdits('s')).toEqual([edit(2)]);
    expect(await store.facts({ sessionId: 's' })).toEqual([]);
    expect(await store.events('r1')).toHaveLength(1);
    expect((await store.run('r1'))?.usage.inputTokens).toBe(0);
    expect(await run.phase('c2', 'plan', { ...late, revision: 'start/1' })).toMatchObject({ revision: 'start/2' });
    expect(await store.viewEdits('s', 1)).toEqual([edit(2)]);
    expect(await store.viewEdits('s', 2)).toEqual([edit(2), edit(2, 'other')]);
  });

  test('edits without a revision, or of items that are not there, are refused', async () => {
    const { store, run } = await opened();
    const refused = { name: 'StoreError', code: 'Internal' };
    await expect(run.phase('c1', 'plan', { edits: [edit(2)] })).rejects.toMatchObject(refused);
    await expect(run.phase('c1', 'plan', { edits: [edit(3)], revision: 'start/0' })).rejects.toMatchObject(refused);
    expect(await store.phases('c1')).toEqual([]);
    expect(await store.viewRevision('s')).toBe('start/0');
  });

  test('a closed run accepts none, and tells how it ended', async () => {
    const { store, run } = await opened();
    await run.phase('c1', 'plan');
    await run.answer('m1');
    const before = await store.events('r1');
    const closed = { status: 'closed', runStatus: 'completed' };
    expect(await run.phase('c1', 'flush', { events: [STARTED], edits: [edit(2)], revision: 'start/0' })).toEqual(
      closed,
    );
    expect(await run.checkpoint('c1', 2)).toEqual(closed);
    expect(await store.events('r1')).toEqual(before);
    expect(await store.phases('c1')).toHaveLength(1);
    expect(await store.checkpoint('s')).toBeUndefined();
    expect(await store.viewRevision('s')).toBe('start/0');
  });

  test('an earlier attempt, and the child of an execution that lost the session, are refused', async () => {
    const { store, run } = await opened();
    const attempt = (n: number) => run.writer({ activityId: 'c1/plan', attempt: n });
    await run.phase('c1', 'plan', {}, attempt(2));
    await expect(run.phase('c1', 'flush', {}, attempt(1))).rejects.toMatchObject(FENCED);
    await expect(run.checkpoint('c1', 2, {}, attempt(1))).rejects.toMatchObject(FENCED);

    const later = new Execution(store, { sessionId: 's', runId: 'r1', owner: 'later', scheduledAtMs: 2_000 });
    Object.assign(later, { storeId: run.storeId, head: run.head });
    await later.begin(1);
    await expect(run.phase('c1', 'flush')).rejects.toMatchObject(FENCED);
    await expect(run.checkpoint('c1', 2)).rejects.toMatchObject(FENCED);
    expect(await store.phases('c1')).toHaveLength(1);
    expect(await later.checkpoint('c1', 2)).toMatchObject({ status: 'committed' });
  });

  test('what the calls of a compaction used counts towards the run, but they are no steps', async () => {
    const { store, run } = await opened();
    const paid = (inputTokens: number, costUsd: number | null) => ({ model: 'm', usage: usage(inputTokens), costUsd });
    await run.phase('c1', 'flush', { usage: [paid(10, 0.25)] });
    // A piece and its whole, whose calls are two: no name is taken twice.
    await run.phase('c1', 'summary/2', { usage: [paid(100, 0.5)] });
    await run.phase('c1', 'summary', { usage: [paid(1_000, 1), paid(10_000, 2)] });
    expect(await store.run('r1')).toMatchObject({
      steps: 1,
      usage: { inputTokens: 11_110, outputTokens: 4, cacheReadTokens: 8, cacheWriteTokens: 12, reasoningTokens: 16 },
    });
    await run.phase('c1', 'result', { usage: [{ model: 'm', usage: null, costUsd: null }] });
    expect(await run.answer('m1')).toMatchObject({
      final: { steps: 1, usage: { inputTokens: 11_110 }, costUsd: null },
    });
    await expectWhole(store, 's');
  });

  test('the cost of a compaction is part of the cost of its run', async () => {
    const store = await make();
    const run = new Execution(store, { sessionId: 's', runId: 'r1' });
    await run.open('m1');
    await run.begin(0);
    await run.commit(0, [assistantItem('so')], { costUsd: 1 });
    await run.phase('c1', 'summary', { usage: [{ model: 'm', usage: usage(1), costUsd: 0.5 }] });
    expect(await store.run('r1')).toMatchObject({ costUsd: 1.5 });
    await run.phase('c1', 'flush', { usage: [{ model: 'm', usage: null, costUsd: null }] });
    await run.begin(1);
    await run.commit(1, [assistantItem('on')], { costUsd: 1 });
    expect(await store.run('r1')).toMatchObject({ costUsd: null });
  });
});
