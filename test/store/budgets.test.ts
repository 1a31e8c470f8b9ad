import { describe, expect, test } from 'vitest';
import type { ReserveBudget, RunBudgets } from '../../src/store/budget-port.ts';
import type { Store } from '../../src/store/store.ts';
import { assistantItem, Execution } from './scenario.ts';
import { availableStores } from './stores.ts';

const USAGE = { inputTokens: 300, outputTokens: 100, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };

class Budgeted extends Execution {
  readonly budgets: RunBudgets;
  readonly root: ReserveBudget['root'];

  constructor(
    store: Store,
    place: { sessionId: string; runId: string; root?: ReserveBudget['root'] },
    budgets: RunBudgets,
  ) {
    super(store, place);
    this.budgets = budgets;
    this.root = place.root ?? place;
  }

  override opening(messageId: string) {
    const config = { budgets: this.budgets, root: this.root } as never;
    return { ...super.opening(messageId), config };
  }

  reserve(step: number, tokens: number, more: Partial<ReserveBudget> = {}) {
    return this.store.reserveBudget(this.writer({ activityId: `step-${step}` }), {
      ref: this.ref(),
      step,
      purpose: 'step',
      root: this.root,
      budgets: this.budgets,
      tokens,
      usd: tokens / 1000,
      ...more,
    });
  }

  /** A whole step that used 400 tokens and 0.4 dollars. */
  async spend(step: number): Promise<void> {
    await this.begin(step);
    await this.reserve(step, 400);
    await this.commit(step, [assistantItem('done')], { usage: USAGE, costUsd: 0.4, budget: {} });
  }
}

async function warnings(store: Store, runId: string) {
  return (await store.events(runId)).map(({ event }) => event).filter(({ type }) => type === 'budget_warning');
}

describe.each(availableStores())('$kind: budgets', ({ make }) => {
  test('a call is refused when what is used and what it may use go over a limit', async () => {
    const store = await make();
    const run = new Budgeted(store, { sessionId: 's', runId: 'r1' }, { run: { maxTokens: 1000 } });
    await run.open('m1');
    expect(await run.reserve(0, 1000)).toEqual({ status: 'reserved' });
    await run.spend(0);
    const use = { scope: 'run', id: 'r1', limit: 'maxTokens', max: 1000, used: 400 };
    expect(await run.reserve(1, 601)).toEqual({ status: 'exhausted', use, wanted: 601 });
    expect(await run.reserve(1, 600)).toEqual({ status: 'reserved' });
    // It is under way now.
    expect(await store.budgets('r1')).toEqual([{ ...use, used: 1000 }]);
  });

  test('dollars are limited too, and a limit that is extended allows more', async () => {
    const store = await make();
    const run = new Budgeted(store, { sessionId: 's', runId: 'r1' }, { run: { maxUsd: 0.5 } });
    await run.open('m1');
    await run.spend(0);
    expect(await run.reserve(1, 200)).toMatchObject({ status: 'exhausted', use: { limit: 'maxUsd', used: 0.4 } });
    expect(await run.reserve(1, 200, { extension: { maxUsd: 0.1 } })).toEqual({ status: 'reserved' });
    expect(await run.reserve(1, 201)).toMatchObject({ status: 'exhausted', use: { max: 0.6 } });
  });

  test('a retry or a fallback of a call that failed counts once', async () => {
    const store = await make();
    const run = new Budgeted(store, { sessionId: 's', runId: 'r1' }, { run: { maxTokens: 1000 } });
    await run.open('m1');
    await run.begin(0);
    for (let attempt = 0; attempt < 3; attempt += 1) {
      expect(await run.reserve(0, 900)).toEqual({ status: 'reserved' });
    }
    await run.commit(0, [assistantItem('done')], { usage: USAGE, costUsd: 0.4, budget: {} });
    expect(await store.budgets('r1')).toMatchObject([{ used: 400 }]);
  });

  test('a compaction counts, and takes the place of the call that waits for it', async () => {
    const store = await make();
    const run = new Budgeted(store, { sessionId: 's', runId: 'r1' }, { run: { maxTokens: 1000 } });
    await run.open('m1');
    await run.begin(0);
    await run.reserve(0, 900);
    const purpose = 'compaction/c/summary/1';
    expect(await run.reserve(0, 800, { purpose })).toEqual({ status: 'reserved' });
    const paid = [{ model: 'offline/echo', usage: USAGE, costUsd: 0.4 }];
    const phase = { compactionId: 'c', step: 0, phase: 'summary/1', output: 'said', events: [] };
    await store.commitPhase(run.writer(), { ...phase, ref: run.ref(), usage: paid, budget: {} });
    expect(await store.budgets('r1')).toMatchObject([{ used: 400 }]);
    expect(await run.reserve(0, 601)).toMatchObject({ status: 'exhausted' });
  });

  test('what a provider does not tell counts by our estimate', async () => {
    const store = await make();
    const run = new Budgeted(store, { sessionId: 's', runId: 'r1' }, { run: { maxTokens: 1000, maxUsd: 9 } });
    await run.open('m1');
    await run.begin(0);
    await run.reserve(0, 900);
    await run.commit(0, [assistantItem('done')], { usage: null, budget: { unreported: { tokens: 250, usd: 0.25 } } });
    expect(await store.budgets('r1')).toMatchObject([
      { limit: 'maxUsd', used: 0.25 },
      { limit: 'maxTokens', used: 250 },
    ]);
  });

  test('subagents count towards their root, under way or done, and within limits of their own', async () => {
    const store = await make();
    const shared = { run: { maxTokens: 1000 } };
    const root = new Budgeted(store, { sessionId: 's', runId: 'r1' }, shared);
    await root.open('m1');
    await root.spend(0);
    const place = { sessionId: 's/sub/c', runId: 'r2', root: { sessionId: 's', runId: 'r1' } };
    const child = new Budgeted(store, place, { ...shared, own: { maxTokens: 450 } });
    await child.open('m2');
    expect(await child.reserve(0, 601)).toMatchObject({ status: 'exhausted', use: { id: 'r1', used: 400 } });
    expect(await child.reserve(0, 500)).toMatchObject({ status: 'exhausted', use: { id: 'r2', used: 0 } });
    expect(await child.reserve(0, 400)).toEqual({ status: 'reserved' });
    expect(await root.reserve(1, 300)).toMatchObject({ status: 'exhausted', use: { used: 800 } });
    // A subagent that ended without a result uses nothing more.
    const { events, ...failed } = { status: 'failed', events: [], dropped: [] } as const;
    const final = { type: 'run_failed', error: 'Internal', message: 'x', hint: 'x', answers: [] } as const;
    await store.closeRun(child.writer(), { ref: child.ref(), ...failed, events, final });
    expect(await root.reserve(1, 600)).toEqual({ status: 'reserved' });
  });

  test('a session adds up its runs, those before it had a budget included', async () => {
    const store = await make();
    const before = new Budgeted(store, { sessionId: 's', runId: 'r1' }, {});
    await before.open('m1');
    await before.begin(0);
    await before.commit(0, [assistantItem('done')], { usage: USAGE, costUsd: 0.4 });
    await before.answer('m1');
    const run = new Budgeted(store, { sessionId: 's', runId: 'r2' }, { session: { maxTokens: 1000 } });
    await run.open('m2');
    expect(await run.reserve(0, 601)).toMatchObject({ status: 'exhausted', use: { scope: 'session', used: 400 } });
    expect(await store.budgets('r1')).toEqual([]);
  });

  test('durations: what the run has worked, and in a session what its other runs had', async () => {
    const store = await make();
    const budgets = { run: { maxDurationMs: 60_000 }, session: { maxDurationMs: 90_000 } };
    const first = new Budgeted(store, { sessionId: 's', runId: 'r1' }, budgets);
    await first.open('m1');
    expect(await first.reserve(0, 1, { workedMs: 60_000 })).toMatchObject({
      status: 'exhausted',
      use: { scope: 'run', limit: 'maxDurationMs', used: 60_000 },
    });
    await first.reserve(0, 1, { workedMs: 40_000 });
    await first.begin(0);
    await first.commit(0, [assistantItem('done')], { usage: USAGE, costUsd: 0, budget: { workedMs: 50_000 } });
    await first.answer('m1');
    const second = new Budgeted(store, { sessionId: 's', runId: 'r2' }, budgets);
    await second.open('m2');
    expect(await second.reserve(0, 1, { workedMs: 39_000 })).toEqual({ status: 'reserved' });
    expect(await second.reserve(0, 1, { workedMs: 41_000 })).toMatchObject({
      status: 'exhausted',
      use: { scope: 'session', id: 's', used: 91_000 },
    });
  });

  test('readers are told once for each limit that four fifths are used', async () => {
    const store = await make();
    const budgets = { run: { maxTokens: 1000 }, session: { maxTokens: 10_000 } };
    const run = new Budgeted(store, { sessionId: 's', runId: 'r1' }, budgets);
    await run.open('m1');
    await run.spend(0);
    await run.reserve(1, 1);
    expect(await warnings(store, 'r1')).toEqual([]);
    await run.spend(1);
    await run.reserve(2, 1);
    await run.reserve(3, 1);
    expect(await warnings(store, 'r1')).toEqual([
      { type: 'budget_warning', scope: 'run', limit: 'maxTokens', used: 800, max: 1000 },
    ]);
  });

  test('a closed run reserves nothing', async () => {
    const store = await make();
    const run = new Budgeted(store, { sessionId: 's', runId: 'r1' }, { run: { maxTokens: 1000 } });
    await run.open('m1');
    await run.spend(0);
    await run.answer('m1');
    expect(await run.reserve(1, 1)).toMatchObject({ status: 'closed', runStatus: 'completed' });
  });
});
