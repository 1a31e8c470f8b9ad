import { describe, expect, test } from 'vitest';
import { assistantItem, Execution, edit, userItem } from './scenario.ts';
import { availableStores } from './stores.ts';
import { expectWhole } from './whole.ts';

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
