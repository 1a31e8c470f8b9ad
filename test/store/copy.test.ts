import { describe, expect, test } from 'vitest';
import { copyStore } from '../../src/store/copy-store.ts';
import type { NewFact } from '../../src/store/facts-port.ts';
import type { Store } from '../../src/store/store.ts';
import { assistantItem, Execution, edit } from './scenario.ts';
import { availableStores, type Stores } from './stores.ts';
import { expectWhole } from './whole.ts';

const stores = availableStores();
const ways = stores.flatMap((from) =>
  stores.map((to): readonly [string, Stores, Stores] => [`${from.kind} to ${to.kind}`, from, to]),
);

async function filled(store: Store): Promise<Execution> {
  const closed = new Execution(store, { sessionId: 'old', runId: 'r0' });
  await closed.open('m0');
  await closed.answer('m0');
  const run = new Execution(store, { sessionId: 's', runId: 'r1' });
  await run.open('m1');
  for (let step = 0; step < 30; step += 1) {
    await run.ask(step, `a${step}`, `b${step}`);
    await run.startCall(step, `a${step}`, { effect: 'at_most_once', leaseMs: 1_000 });
    await run.endCall(step, `a${step}`, { fullOutput: 'é'.repeat(step * 8_000) });
  }
  await run.phase('k1', 'plan', { edits: [edit(1), edit(5)], revision: 'start/0', facts: [FACT], usage: [PAID] });
  await run.checkpoint('k1', 31, { protectedSeqs: [1] });
  for (const id of ['k3', 'k2']) await run.checkpoint(id, 41);
  await store.putBlob(Uint8Array.of(0, 1, 255), 'image/png');
  await store.bindNamespace('namespace');
  return run;
}

const PAID = { model: 'offline/echo', usage: null, costUsd: 0.5 };
const FACT: NewFact = {
  factId: 'fact',
  scope: 'session',
  kind: 'memory',
  text: 'tea \u{1f375}',
  status: 'quarantined',
  sourceSeq: 3,
  source: { origin: 'tool' },
};

async function everything(store: Store): Promise<unknown> {
  const { storeId, namespaceId } = await store.identity();
  const sessions = await store.sessions({ limit: 100 });
  const each = sessions.map(async ({ sessionId }) => {
    const runs = await store.runs(sessionId);
    const details = runs.map(async ({ runId }) => [await store.events(runId), await store.requests(runId)]);
    const view = [store.viewRevision(sessionId), store.viewEdits(sessionId), store.checkpoints(sessionId)];
    const facts = await store.facts({ sessionId });
    return [await store.entries(sessionId), runs, await Promise.all(details), await Promise.all(view), facts];
  });
  const phases = await Promise.all([store.phases('k1'), store.compactionResults('s')]);
  const output = await store.toolOutput('s', 'a29', { start: 0, end: 1_000_000 });
  return { storeId, namespaceId, sessions, each: await Promise.all(each), output, phases };
}

describe('a store that is copied', () => {
  test.each(ways)('%s: is the same store in another place, and its open run goes on there', async (_, from, to) => {
    const [here, there] = [await from.location(), await to.location()];
    const source = await from.openAt(here);
    const run = await filled(source);
    const report = await copyStore(here, there);
    // More rows than are read at a time.
    expect(report.tool_outputs).toBeGreaterThan(50);
    expect(report).toMatchObject({ sessions: 2, agent_runs: 2, tool_calls: 60, tool_effects: 30, blobs: 1 });
    expect(report).toMatchObject({ session_compactions: 3, compaction_phases: 4, view_edits: 2, facts: 1 });

    const copy = await to.openAt(there);
    expect(await everything(copy)).toEqual(await everything(source));
    const moved = new Execution(copy, { sessionId: 's', runId: 'r1' });
    Object.assign(moved, { storeId: run.storeId, head: run.head });
    await moved.begin(30);
    await moved.commit(30, [assistantItem('done')]);
    await moved.answer('m1');
    await expectWhole(copy, 's');
  });

  test('never lands on a store that holds sessions, nor on itself', async () => {
    const [sqlite] = stores;
    if (sqlite === undefined) throw new Error('SQLite is always there');
    const [here, there] = [await sqlite.location(), await sqlite.location()];
    await new Execution(await sqlite.openAt(here), { sessionId: 's', runId: 'r1' }).open('m1');
    await new Execution(await sqlite.openAt(there), { sessionId: 't', runId: 'r1' }).open('m1');
    await expect(copyStore(here, there)).rejects.toMatchObject({ code: 'StoreMismatch' });
    await expect(copyStore(here, here)).rejects.toMatchObject({ code: 'StoreMismatch' });
    expect(await (await sqlite.openAt(there)).session('t')).toBeDefined();
  });
});
