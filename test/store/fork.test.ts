import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { factId } from '../../src/store/fact-id.ts';
import type { NewFact } from '../../src/store/facts-port.ts';
import { loadView } from '../../src/store/load-view.ts';
import type { Store } from '../../src/store/store.ts';
import { groupsOf } from '../../src/transcript/groups.ts';
import { wireOf } from '../view/sessions.ts';
import { LIVES, life, live } from './compacted.ts';
import { assistantItem, batchItem, Execution, edit, userItem } from './scenario.ts';
import { availableStores } from './stores.ts';
import { expectWhole } from './whole.ts';

const BUDGET = 600;

function fork(store: Store, atSeq: number, toSessionId = 'copy') {
  return store.forkSession({ fromSessionId: 's', toSessionId, atSeq, runId: `fork ${toSessionId}` });
}

describe.each(availableStores())('$kind: a fork', ({ kind, make }) => {
  test('shows byte for byte what the original shows there, wherever it was cut and whatever had happened', async () => {
    const store = await make();
    let sessions = 0;
    await fc.assert(
      fc.asyncProperty(life, fc.nat(1_000), async (lived, chosen) => {
        const from = `s${sessions++}`;
        const { entries } = await live(store, from, lived);
        const ends = groupsOf(entries.map(({ item }) => item)).map(({ end }) => end);
        const atSeq = ends[chosen % ends.length] ?? 0;
        const to = `copy of ${from}`;
        await store.forkSession({ fromSessionId: from, toSessionId: to, atSeq, runId: to });

        const fits = (await store.checkpoints(from)).filter(({ firstKeptSeq }) => firstKeptSeq <= atSeq + 1);
        const edits = await store.viewEdits(from);
        const revision = `${fits.at(-1)?.compactionId ?? 'start'}/${edits.length}`;
        const original = await loadView(store, from, { revision, head: atSeq, budget: BUDGET });
        const key = { revision: await store.viewRevision(to), head: atSeq, budget: BUDGET };
        const copy = await loadView(store, to, key);
        expect(wireOf(copy)).toBe(wireOf(original));
        expect(JSON.stringify(copy.items)).toBe(JSON.stringify(original.items));
        expect(copy.parts).toEqual(original.parts);

        expect((await store.checkpoints(to)).map((row) => ({ ...row, sessionId: from }))).toEqual(fits);
        expect(await store.viewEdits(to)).toEqual(edits.filter(({ seq }) => seq <= atSeq));
        const items = (await store.entries(to)).map(({ seq, item }) => ({ seq, item }));
        expect(items).toEqual(entries.slice(0, atSeq).map(({ seq, item }) => ({ seq, item })));
      }),
      { numRuns: LIVES[kind] },
    );
  });

  /** Items: 1 user, 2 batch, 3 results, 4 steer, 5 batch, 6 results, 7 answer. */
  async function talked() {
    const store = await make();
    const run = new Execution(store, { sessionId: 's', runId: 'r1' });
    await run.open('m1');
    await run.ask(0, 'a', 'b');
    await run.startCall(0, 'a');
    await run.endCall(0, 'a', { fullOutput: `${'x'.repeat(70_000)} needle` });
    await run.endCall(0, 'b');
    await run.begin(1, { append: [userItem('m2')], joined: ['m2'] });
    await run.commit(1, [batchItem('c')]);
    await run.endCall(1, 'c', { fullOutput: 'later needle' });
    await run.begin(2);
    await run.commit(2, [assistantItem('done')]);
    return { store, run };
  }

  test('has the calls and whole outputs before the cut, a finished run, and goes on by itself', async () => {
    const { store, run } = await talked();
    expect(await fork(store, 4)).toEqual({ head: 4 });
    expect(await store.session('copy')).toMatchObject({
      title: 'text of m1',
      lastSeq: 4,
      runs: 1,
      lastStatus: 'completed',
    });
    expect(await store.runs('copy')).toMatchObject([
      { runId: 'fork copy', agent: 'fork', status: 'completed', messageIds: [], config: { forkedFrom: 's', atSeq: 4 } },
    ]);
    const output = { start: 69_990, end: 80_000 };
    expect(await store.toolOutput('copy', 'a', output)).toEqual(await store.toolOutput('s', 'a', output));
    expect(await store.toolOutput('copy', 'c', output)).toBeUndefined();
    expect(await store.callResult('fork copy', 'b')).toEqual(await store.callResult('r1', 'b'));
    expect(await store.callResult('fork copy', 'c')).toBeUndefined();
    const found = await store.searchTranscript('copy', 'needle', { limit: 9 });
    expect(found.map(({ callId }) => callId)).toEqual(['a']);
    expect(await store.outcome('copy', 'm1')).toBeUndefined();

    const before = await store.entries('s');
    const next = new Execution(store, { sessionId: 'copy', runId: 'r2', scheduledAtMs: 1 });
    await next.open('m1');
    await next.ask(0, 'c');
    await next.endCall(0, 'c');
    await next.begin(1);
    await next.commit(1, [assistantItem('another end')]);
    await next.checkpoint('k', 5);
    await next.answer('m1');
    await expectWhole(store, 'copy');
    expect(await store.entries('s')).toEqual(before);
    await run.answer('m1');
    await expectWhole(store, 's');
  });

  test('has the checkpoints that replace only what it has, and can be compacted further', async () => {
    const { store, run } = await talked();
    await run.phase('k1', 'plan', { edits: [edit(7), edit(3)], revision: 'start/0' });
    await run.checkpoint('k1', 4, { protectedSeqs: [1] });
    await run.phase('k2', 'plan', { edits: [edit(4)], revision: 'k1/2' });
    await run.checkpoint('k2', 7);
    await fork(store, 4);
    expect(await store.viewRevision('copy')).toBe('k1/2');
    expect(await store.viewEdits('copy')).toEqual([edit(3), edit(4)]);
    expect(await store.checkpoint('copy')).toMatchObject({ compactionId: 'k1', sessionId: 'copy', protectedSeqs: [1] });
    await fork(store, 6, 'larger');
    expect(await store.viewRevision('larger')).toBe('k2/2');
    await fork(store, 3, 'smaller');
    expect(await store.viewRevision('smaller')).toBe('k1/1');
    await fork(store, 1, 'least');
    expect(await store.viewRevision('least')).toBe('start/0');

    const next = new Execution(store, { sessionId: 'copy', runId: 'r2' });
    await next.openWithout();
    expect(await next.begin(0)).toMatchObject({ revision: 'k1/2' });
    expect(await next.phase('k3', 'plan', { edits: [edit(4)], revision: 'k1/2' })).toMatchObject({ revision: 'k1/3' });
    expect(await next.checkpoint('k3', 5)).toMatchObject({ status: 'committed', revision: 'k3/3' });
    expect(await store.viewRevision('s')).toBe('k2/3');
    await fork(store, 4, 'copied again');
    expect(await store.viewRevision('copied again')).toBe('k1/2');
  });

  test('has the facts that were learnt before the cut, as facts of its own', async () => {
    const { store } = await talked();
    const fact = (text: string, sourceSeq: number | null, scope: NewFact['scope'] = 'session'): NewFact => ({
      factId: factId({ scope, sessionId: 's', kind: 'memory', text }),
      scope,
      kind: 'memory',
      text,
      status: 'quarantined',
      sourceSeq,
      source: { origin: 'tool' },
    });
    await store.putFacts('s', [fact('early', 4), fact('late', 5), fact('of all', 1, 'workspace'), fact('whole', null)]);
    await fork(store, 4);
    const facts = await store.facts({ sessionId: 'copy', scope: 'session' });
    expect(facts.map(({ text }) => text).sort()).toEqual(['early', 'whole']);
    const early = facts.find(({ text }) => text === 'early');
    const own = factId({ scope: 'session', sessionId: 'copy', kind: 'memory', text: 'early' });
    expect(early).toMatchObject({ factId: own, sessionId: 'copy', status: 'quarantined', sourceSeq: 4 });
    await store.setFactStatus(own, 'forgotten');
    expect(await store.facts({ sessionId: 's', scope: 'session', statuses: ['forgotten'] })).toEqual([]);
    expect(await store.facts({})).toHaveLength(1);
  });

  test.each([
    { atSeq: 2, why: 'the results of its calls belong to it', says: 'the calls of item 2 have no results yet' },
    { atSeq: 0, why: 'there is nothing before the first item', says: 'session s has no item 0' },
    { atSeq: 9, why: 'there is no such item', says: 'session s has no item 9' },
    { atSeq: 8, why: 'its calls still run', says: 'the calls of item 8 have no results yet' },
  ])('at item $atSeq is refused, for $why', async ({ atSeq, says }) => {
    const { store, run } = await talked();
    await run.ask(3, 'open');
    const error = { name: 'StoreError', code: 'InvalidInput', retryable: false };
    const message = `A session cannot be forked at item ${atSeq}: ${says}.`;
    await expect(fork(store, atSeq)).rejects.toMatchObject({ ...error, message });
    expect(await store.session('copy')).toBeUndefined();
  });

  test('inside a response is refused, and the next place is named', async () => {
    const store = await make();
    const response = { id: 'x', provider: 'p', model: 'm', api: 'offline' } as const;
    const thought = { kind: 'reasoning_summary', schemaVersion: 1, response, text: 'hm' } as const;
    const said = {
      kind: 'assistant_message',
      schemaVersion: 1,
      response,
      content: [{ type: 'text', text: 'so' }],
    } as const;
    await store.importSession({ sessionId: 's', runId: 'i', items: [userItem('m'), thought, said, userItem('n')] });
    await expect(fork(store, 2)).rejects.toMatchObject({
      code: 'InvalidInput',
      message: 'A session cannot be forked at item 2: what belongs together there ends at item 3.',
    });
    expect(await fork(store, 3)).toEqual({ head: 3 });
  });

  test('never lands on a session that is there, nor comes from one that is not', async () => {
    const { store } = await talked();
    await fork(store, 1);
    const taken = { name: 'StoreError', code: 'InvalidInput', message: 'Session copy exists already.' };
    await expect(fork(store, 4)).rejects.toMatchObject(taken);
    await expect(fork(store, 4, 's')).rejects.toMatchObject({ code: 'InvalidInput' });
    expect(await store.entries('copy')).toHaveLength(1);
    const nowhere = { fromSessionId: 'nowhere', toSessionId: 'x', atSeq: 1, runId: 'x' };
    await expect(store.forkSession(nowhere)).rejects.toMatchObject({ name: 'StoreError', code: 'NotFound' });
    expect(await store.session('x')).toBeUndefined();
  });

  test('of several at once to one place one is made', async () => {
    const { store } = await talked();
    const forks = await Promise.allSettled(
      [1, 3, 4].map((atSeq) =>
        store.forkSession({ fromSessionId: 's', toSessionId: 'copy', atSeq, runId: `fork ${atSeq}` }),
      ),
    );
    expect(forks.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected', 'rejected']);
    expect(await store.runs('copy')).toHaveLength(1);
    await expectWhole(store, 'copy');
  });
});
