import { describe, expect, test } from 'vitest';
import type { AgentEvent } from '../../src/transcript/events.ts';
import type { Usage } from '../../src/transcript/message.ts';
import { assistantItem, batchItem, Execution, edit, message, userItem } from './scenario.ts';
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

describe.each(availableStores())('$kind: checkpoints', ({ make }) => {
  /** Items: 1 user, 2 batch, 3 results, 4 steer, 5 answer. */
  async function talked() {
    const store = await make();
    const run = new Execution(store, { sessionId: 's', runId: 'r1' });
    await run.open('m1');
    await run.ask(0, 'a');
    await run.endCall(0, 'a');
    await run.begin(1, { append: [userItem('m2')], joined: ['m2'] });
    await run.commit(1, [assistantItem('done')]);
    return { store, run };
  }

  test('a checkpoint changes the view, keeps everything that is known of it, and is committed once', async () => {
    const { store, run } = await talked();
    const sourceHash = await store.sourceHash('s', 1, 3);
    const done = {
      type: 'compaction_completed',
      compactionId: 'c1',
      tokensBefore: 9,
      tokensAfter: 1,
      detail: {},
    } as const;
    const first = await run.checkpoint('c1', 4, { events: [done], protectedSeqs: [1], output: { won: 'first' } });
    expect(first).toEqual({ status: 'committed', output: { won: 'first' }, revision: 'c1/0' });
    expect(await run.checkpoint('c1', 5, { output: { won: 'second' } })).toEqual(first);
    const row = {
      compactionId: 'c1',
      sessionId: 's',
      trigger: 'manual',
      reason: 'asked for',
      summary: 'summary c1',
      firstKeptTurnId: 1,
      firstKeptSeq: 4,
      protectedSeqs: [1],
      sourceHash,
      tokensBefore: 100,
      tokensAfter: 10,
      providerId: 'offline',
      model: 'echo',
      quality: { passed: true },
      metadata: { mode: 'ride' },
      createdAt: expect.stringMatching(/Z$/),
    };
    expect(await store.checkpoints('s')).toEqual([row]);
    expect(await store.checkpoint('s')).toEqual(row);
    expect(await store.checkpoint('s', 'c1')).toEqual(row);
    expect(await store.checkpoint('s', 'c2')).toBeUndefined();
    expect(await store.checkpoint('other', 'c1')).toBeUndefined();
    expect(await store.phases('c1')).toMatchObject([{ phase: 'result', output: { won: 'first' } }]);
    expect((await store.events('r1')).at(-1)?.event).toEqual(done);
    expect(await run.begin(2)).toMatchObject({ revision: 'c1/0' });
    await expectWhole(store, 's');
  });

  test('a view that changed since the plan, or a prefix that is not what was summarised, makes it stale', async () => {
    const { store, run } = await talked();
    await run.phase('c1', 'plan', { edits: [edit(5)], revision: 'start/0' });
    expect(await run.checkpoint('c1', 4, { revision: 'start/0' })).toEqual({ status: 'stale', revision: 'start/1' });
    expect(await run.checkpoint('c1', 4, { sourceHash: 'another' })).toEqual({ status: 'stale', revision: 'start/1' });
    expect(await run.checkpoint('c1', 4, { toSeq: 2 })).toMatchObject({ status: 'stale' });
    expect(await store.checkpoints('s')).toEqual([]);
    expect(await store.phases('c1')).toHaveLength(1);
    expect(await run.checkpoint('c1', 4)).toMatchObject({ status: 'committed', revision: 'c1/1' });
  });

  test('of two compactions of one plan that commit at once one wins, and the other is stale', async () => {
    const { store, run } = await talked();
    const told = await Promise.all(['c1', 'c2', 'c3'].map((id) => run.checkpoint(id, 4, { revision: 'start/0' })));
    expect(told.map(({ status }) => status).sort()).toEqual(['committed', 'stale', 'stale']);
    expect(await store.checkpoints('s')).toHaveLength(1);
  });

  test('the latest checkpoint is the one that was committed last, equal times or not', async () => {
    const store = await make({ now: () => 1_000 });
    const run = new Execution(store, { sessionId: 's', runId: 'r1' });
    await run.open('m1');
    for (const id of ['b', 'c', 'a']) await run.checkpoint(id, 1);
    expect((await store.checkpoints('s')).map(({ compactionId }) => compactionId)).toEqual(['b', 'c', 'a']);
    expect(await store.checkpoint('s')).toMatchObject({ compactionId: 'a' });
    expect(await store.viewRevision('s')).toBe('a/0');
  });

  test('the turn of the first kept item is that of the last user message up to it; steering is no turn', async () => {
    const { store, run } = await talked();
    await run.answer('m1');
    const second = new Execution(store, { sessionId: 's', runId: 'r2' });
    await second.open('m3');
    for (const [id, firstKeptSeq, turn] of [
      ['at 5', 5, 1],
      ['at 6', 6, 6],
      ['past the end', 7, 6],
    ] as const) {
      await second.checkpoint(id, firstKeptSeq);
      expect(await store.checkpoint('s', id)).toMatchObject({ firstKeptTurnId: turn });
    }
    const observed = new Execution(store, { sessionId: 'none', runId: 'r3' });
    await store.importSession({ sessionId: 'none', runId: 'i', items: [userItem('x')] });
    await observed.openWithout();
    await observed.checkpoint('c', 2);
    expect(await store.checkpoint('none')).toMatchObject({ firstKeptTurnId: null });
  });

  test('a cut that brings back what an earlier one replaced, or protects what it keeps, is refused', async () => {
    const { store, run } = await talked();
    await run.checkpoint('c1', 4);
    const refused = { name: 'StoreError', code: 'Internal' };
    await expect(run.checkpoint('c2', 2)).rejects.toMatchObject(refused);
    await expect(run.checkpoint('c2', 7)).rejects.toMatchObject(refused);
    await expect(run.checkpoint('c2', 5, { protectedSeqs: [5] })).rejects.toMatchObject(refused);
    expect(await store.viewRevision('s')).toBe('c1/0');
  });

  test('the hash of a range tells positions and contents, and knows live items only', async () => {
    const { store } = await talked();
    const hashes = await Promise.all([
      store.sourceHash('s', 1, 3),
      store.sourceHash('s', 1, 4),
      store.sourceHash('s', 2, 3),
      store.sourceHash('s', 3, 2),
      store.sourceHash('s', 6, 9),
    ]);
    expect(hashes.every((hash) => /^[0-9a-f]{64}$/.test(hash))).toBe(true);
    expect(new Set(hashes.slice(0, 4)).size).toBe(4);
    expect(hashes[4]).toBe(hashes[3]);
    await store.importSession({ sessionId: 't', runId: 't', items: [userItem('m1'), userItem('m2')] });
    await store.importSession({ sessionId: 'u', runId: 'u', items: [userItem('m2'), userItem('m2')] });
    expect(await store.sourceHash('t', 2, 2)).toBe(await store.sourceHash('u', 2, 2));
    expect(await store.sourceHash('u', 1, 1)).not.toBe(await store.sourceHash('u', 2, 2));
  });

  test('the hash of a long range takes in all of it', async () => {
    const store = await make();
    const items = Array.from({ length: 1_203 }, (_, at) => userItem(`m${at}`));
    const changed = items.with(1_201, userItem('other'));
    await store.importSession({ sessionId: 's', runId: 's', items });
    await store.importSession({ sessionId: 't', runId: 't', items: changed });
    expect(await store.sourceHash('s', 1, 1_201)).toBe(await store.sourceHash('t', 1, 1_201));
    expect(await store.sourceHash('s', 1, 1_202)).not.toBe(await store.sourceHash('t', 1, 1_202));
  });

  test('entries at positions come in order, once, and unknown positions give none', async () => {
    const { store } = await talked();
    const entries = await store.entriesAt('s', [5, 2, 99, 2, 0, -1, 1.5, 1e12]);
    expect(entries).toEqual((await store.entries('s')).filter(({ seq }) => seq === 2 || seq === 5));
    expect(await store.entriesAt('s', [])).toEqual([]);
  });

  test('edits can be asked for by their items: in order of commit, counted from the first', async () => {
    const { store, run } = await talked();
    const edits = [edit(5, 'a'), edit(1, 'b'), edit(4, 'c'), edit(1, 'd'), edit(2, 'e')];
    await run.phase('c1', 'plan', { edits: edits.slice(0, 3), revision: 'start/0' });
    await run.phase('c2', 'plan', { edits: edits.slice(3), revision: 'start/3' });
    expect(await store.viewEdits('s')).toEqual(edits);
    expect(await store.viewEdits('s', 4, { fromSeq: 4, seqs: [1] })).toEqual(edits.slice(0, 4));
    expect(await store.viewEdits('s', 2, { fromSeq: 4, seqs: [] })).toEqual([edits[0]]);
    expect(await store.viewEdits('s', 9, { fromSeq: 2, seqs: [5] })).toEqual([edits[0], edits[2], edits[4]]);
  });
});

describe.each(availableStores())('$kind: what was learnt about estimates', ({ make }) => {
  test('the factor of a model is kept with the step that taught it, and counted', async () => {
    const store = await make();
    expect(await store.calibration('offline/echo')).toBeUndefined();
    const run = new Execution(store, { sessionId: 's', runId: 'r1' });
    await run.open('m1');
    await run.begin(0);
    await run.commit(0, [assistantItem('a')], { calibration: { model: 'offline/echo', factor: 1.25 } });
    expect(await store.calibration('offline/echo')).toBe(1.25);
    await run.begin(1);
    await run.commit(1, [assistantItem('b')], { calibration: { model: 'offline/echo', factor: 1.5 } });
    await run.commit(1, [assistantItem('late')], { calibration: { model: 'offline/echo', factor: 9 } });
    expect(await store.calibration('offline/echo')).toBe(1.5);
    expect(await store.calibration('offline/other')).toBeUndefined();
  });
});

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
