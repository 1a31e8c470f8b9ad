import SqliteDatabase from 'better-sqlite3';
import { expect, test, vi } from 'vitest';
import { assistantItem, Execution, edit, userItem } from './scenario.ts';
import { sqliteStores } from './stores.ts';

const { location, openAt } = sqliteStores();

/** A whole table, read without an index. Those of the schema and of the store's own name and version never grow. */
const WHOLE_TABLE = /^SCAN (?!sqlite_master|store_meta)\w+$/;

/** Everything that a step, a compaction, a reset and a fork ask of a store. */
async function work(place: string): Promise<void> {
  const store = await openAt(place);
  const run = new Execution(store, { sessionId: 's', runId: 'r1' });
  await run.open('m1');
  await run.ask(0, 'a', 'b');
  await run.startCall(0, 'a', { effect: 'at_most_once', leaseMs: 1_000 });
  await run.endCall(0, 'a', { fullOutput: 'whole' });
  await run.begin(1, { append: [userItem('m2')], joined: ['m2'] });
  const root = { runId: 'r1', sessionId: 's' };
  const budgets = { run: { maxTokens: 9 }, session: { maxTokens: 9 } };
  const call = { step: 1, purpose: 'step', root, budgets, tokens: 1, usd: null };
  await store.reserveBudget(run.writer(), { ref: run.ref(), ...call });
  await run.commit(1, [assistantItem('done')], { budget: {}, calibration: { model: 'm', factor: 1 } });
  await run.phase('k', 'plan', { edits: [edit(1)], revision: 'start/0' });
  await run.checkpoint('k', 4, { protectedSeqs: [1] });
  await store.viewEdits('s', 1, { fromSeq: 4, seqs: [1] });
  await Promise.all([
    store.phases('k'),
    store.compactionResults('s'),
    store.checkpoint('s'),
    store.entriesAt('s', [1]),
  ]);
  await Promise.all([store.hasActed('r1', 0), store.lateResults('s'), store.grants('s'), store.openApprovals('s')]);
  await Promise.all([
    store.facts({ sessionId: 's' }),
    store.budgets('r1'),
    store.searchTranscript('s', 'x', { limit: 9 }),
  ]);
  await Promise.all([store.sessions({ limit: 9 }), store.runs('s'), store.requests('r1'), store.callResult('r1', 'a')]);
  await run.answer('m1', 'm2');
  await store.forkSession({ fromSessionId: 's', toSessionId: 'copy', atSeq: 1, runId: 'fork' });
  const reset = new Execution(store, { sessionId: 's', runId: 'r2', owner: 'execution-2', scheduledAtMs: 2_000 });
  await store.branchEffects('s', { head: 1, owner: reset.owner });
  await store.openRun(reset.writer(), { ...reset.opening('m1'), reset: true });
}

test('no statement of a run reads a whole table: how much others have stored costs it nothing', async () => {
  const prepare = vi.spyOn(SqliteDatabase.prototype, 'prepare');
  const place = await location();
  await work(place);
  const texts = new Set(
    prepare.mock.calls.map(([text]) => text).filter((text) => /^\s*(select|update|delete)/.test(text)),
  );
  prepare.mockRestore();
  expect(texts.size).toBeGreaterThan(80);

  const database = new SqliteDatabase(place, { readonly: true });
  const scans = [...texts].filter((text) => {
    const values = (text.match(/\?/g) ?? []).map(() => 1);
    const plan = database.prepare<unknown[], { readonly detail: string }>(`explain query plan ${text}`).all(...values);
    return plan.some(({ detail }) => WHOLE_TABLE.test(detail));
  });
  database.close();
  expect(scans).toEqual([]);
});
