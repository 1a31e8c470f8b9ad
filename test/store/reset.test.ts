import { describe, expect, test } from 'vitest';
import { openDatabase } from '../../src/store/open-store.ts';
import type { BeginStep, Store } from '../../src/store/store.ts';
import { validate } from '../../src/transcript/validate.ts';
import { assistantItem, Execution, edit, message, userItem } from './scenario.ts';
import { availableStores } from './stores.ts';

/** The execution that a reset makes: another owner, whose workflow knows the session up to `head`. */
class ResetExecution extends Execution {
  readonly #from: number;
  readonly #after: string | undefined;

  constructor(run: Execution, head: number, answered: number, after?: string) {
    super(run.store, { sessionId: run.sessionId, runId: run.runId, owner: 'execution-2', scheduledAtMs: 2_000 });
    this.storeId = run.storeId;
    this.head = head;
    this.#from = answered;
    this.#after = after;
  }

  override ref() {
    const after = this.#after === undefined ? {} : { afterCompaction: this.#after };
    return { ...super.ref(), reset: { answered: this.#from, ...after } };
  }
}

const USAGE = { inputTokens: 5, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };

describe.each(availableStores())('$kind: a run that is reset', ({ location, make, openAt }) => {
  /** Three steps, of which two asked for a call with effects each; a message joined before the last. */
  async function worked(closed = true, opened?: Store) {
    const run = new Execution(opened ?? (await make()), { sessionId: 's', runId: 'r1' });
    await run.open('m1');
    const heads = [run.head];
    for (const step of [0, 1]) {
      await run.ask(step, `c${step}`);
      heads.push(run.head);
      await run.startCall(step, `c${step}`, { effect: 'at_most_once', leaseMs: 1_000 });
      await run.endCall(step, `c${step}`);
    }
    await run.begin(2, { append: [userItem('m2')], joined: ['m2'] });
    await run.commit(2, [assistantItem('old answer')], { usage: USAGE, costUsd: 1 });
    if (closed) await run.answer('m1', 'm2');
    return { run, store: run.store, heads };
  }

  async function kinds(store: Store) {
    const entries = await store.entries('s');
    const items = entries.map(({ item }) => item);
    expect(validate(items, { tail: 'open' })).toEqual([]);
    return entries.map(({ seq, item }) => `${seq} ${item.kind}`);
  }

  test('goes on after the head that its workflow knows, and what came later is a branch', async () => {
    const { run, store, heads } = await worked();
    const reset = new ResetExecution(run, heads[1] ?? 0, 0);
    const writer = reset.writer({ activityId: 'step-1' });
    expect(await reset.begin(1, {}, writer)).toMatchObject({ status: 'begun', revision: 'start/0' });
    expect(await kinds(store)).toEqual(['1 user_message', '2 tool_call_batch', '8 tool_result_batch']);
    expect((await store.entries('s')).at(-1)?.item).toMatchObject({
      results: [{ callId: 'c0', status: 'ok', content: [{ text: 'result of c0' }] }],
    });
    expect(await store.run('r1')).toMatchObject({
      status: 'running',
      completedAt: null,
      owner: 'execution-2',
      costUsd: null,
    });
    expect(await store.outcome('s', 'm1')).toBeUndefined();
    expect(await store.outcome('s', 'm2')).toBeUndefined();
    expect(await store.runOfMessage('s', 'm1')).toBe('r1');
    expect(await store.requests('r1')).toMatchObject([{ outcome: { step: 0 } }, { step: 1, outcome: null }]);
    await reset.commit(1, [assistantItem('another')], { usage: USAGE, costUsd: 1 }, writer);
    await reset.begin(2, { append: [userItem('m2')], joined: ['m2'] });
    await reset.commit(2, [assistantItem('new answer')], { usage: USAGE, costUsd: 1 });
    await reset.answer('m1', 'm2');
    expect(await kinds(store)).toEqual([
      '1 user_message',
      '2 tool_call_batch',
      '8 tool_result_batch',
      '9 assistant_message',
      '10 user_message',
      '11 assistant_message',
    ]);
    expect((await store.outcome('s', 'm2'))?.event).toMatchObject({ type: 'final_response', answers: ['m1', 'm2'] });
    expect((await store.run('r1'))?.usage.inputTokens).toBe(15);
    const indices = (await store.events('r1')).map(({ index }) => index);
    expect(indices).toEqual(indices.map((_, at) => at));
  });

  test('the execution before can write no more', async () => {
    const { run, heads } = await worked(false);
    await new ResetExecution(run, heads[0] ?? 0, -1).begin(0, {});
    await expect(run.begin(3, {})).rejects.toMatchObject({ code: 'Fenced' });
  });

  test('a call that ran at most once is done when it is asked for again, and told of when its step is gone', async () => {
    const { run, store, heads } = await worked();
    const reset = new ResetExecution(run, heads[1] ?? 0, 0);
    const at = { head: reset.head, owner: reset.owner };
    expect(await store.branchEffects('s', at)).toMatchObject([
      { callId: 'c1', name: 'look', arguments: { at: 'c1' }, status: 'ok', text: 'result of c1' },
    ]);
    expect(await reset.startCall(0, 'c0', { effect: 'at_most_once', leaseMs: 1_000 })).toMatchObject({
      status: 'done',
    });
    expect(await store.branchEffects('s', at)).toHaveLength(1);
    const told: Omit<BeginStep, 'ref'> = {
      step: 1,
      settlement: {},
      append: [{ ...userItem('told'), origin: 'control' } as never],
      joined: [],
      toldBranch: ['c1'],
      events: [],
    };
    await store.beginStep(reset.writer(), { ref: reset.ref(), ...told });
    expect(await store.branchEffects('s', at)).toEqual([]);
  });

  test('a call that the end of the run gave up before it began may run', async () => {
    const run = new Execution(await make(), { sessionId: 's', runId: 'r1' });
    await run.open('m1');
    await run.ask(0, 'c0');
    await run.close({ type: 'loop_aborted', reason: 'stop', answers: ['m1'] });
    const reset = new ResetExecution(run, run.head, 0);
    expect(await reset.startCall(0, 'c0', { effect: 'at_most_once', leaseMs: 1_000 })).toEqual({ status: 'run' });
    expect(await reset.endCall(0, 'c0')).toMatchObject({ status: 'ok' });
    await reset.begin(1, {});
    expect((await run.store.entries('s')).at(-1)?.item).toMatchObject({ results: [{ callId: 'c0', status: 'ok' }] });
  });

  test('compactions and edits after the point are undone, and earlier ones stay', async () => {
    const { run, store, heads } = await worked(false);
    await run.phase('k1', 'plan', { step: 1, edits: [edit(1)], revision: 'start/0' });
    await run.checkpoint('k1', 2, { step: 1 });
    await run.phase('k2', 'plan', { step: 2, edits: [edit(3)], revision: 'k1/1' });
    await run.checkpoint('k2', 4, { step: 2, fromSeq: 2 });
    expect(await store.viewRevision('s')).toBe('k2/2');
    const kept = new ResetExecution(run, heads[2] ?? 0, 1);
    expect(await kept.begin(2, {})).toMatchObject({ status: 'begun', revision: 'k1/1' });
    expect((await store.checkpoint('s'))?.compactionId).toBe('k1');
    expect(await store.viewEdits('s')).toHaveLength(1);
    expect((await store.compactionResults('s')).map(({ compactionId }) => compactionId)).toEqual(['k1']);
    await kept.phase('k2', 'plan', { step: 2, edits: [edit(2)], revision: 'k1/1' });
    expect(await store.viewRevision('s')).toBe('k1/2');
  });

  test('requests, compactions and edits that it takes back are put aside as they were', async () => {
    const place = await location();
    const { run, heads } = await worked(false, await openAt(place));
    await run.phase('k1', 'plan', { step: 2, edits: [edit(3, 'cut'), edit(1)], revision: 'start/0' });
    await run.checkpoint('k1', 4, { step: 2 });
    await new ResetExecution(run, heads[1] ?? 0, 0).begin(1, {});
    const database = await openDatabase(place, {});
    const rows = await database.reader
      .selectFrom('superseded_rows')
      .selectAll()
      .orderBy('table_name')
      .orderBy('n')
      .execute();
    await database.close();
    expect(new Set(rows.map((row) => `${row.session_id} ${row.superseded_by}`))).toEqual(new Set(['s execution-2']));
    expect(rows.map((row) => [row.table_name, JSON.parse(row.row_json)])).toMatchObject([
      ['compaction_phases', { compaction_id: 'k1', phase: 'plan' }],
      ['compaction_phases', { compaction_id: 'k1', phase: 'result' }],
      ['requests', { run_id: 'r1', step: 1 }],
      ['requests', { run_id: 'r1', step: 2, outcome_json: '{"step":2}' }],
      ['session_compactions', { compaction_id: 'k1', first_kept_seq: 4 }],
      ['view_edits', { n: 0, seq: 3, edit_json: JSON.stringify(edit(3, 'cut')) }],
      ['view_edits', { n: 1, seq: 1 }],
    ]);
  });

  test('a compaction whose end the workflow knows stays, though its step is asked anew', async () => {
    const { run, store, heads } = await worked(false);
    await run.checkpoint('k1', 2, { step: 1 });
    const reset = new ResetExecution(run, heads[1] ?? 0, 0, 'k1');
    expect(await reset.begin(1, {})).toMatchObject({ revision: 'k1/0' });
    expect((await store.checkpoint('s'))?.compactionId).toBe('k1');
  });

  test('only the latest run can be reset, and a refusal changes nothing', async () => {
    const { run, store, heads } = await worked();
    const later = new Execution(store, { sessionId: 's', runId: 'r2', owner: 'execution-3', scheduledAtMs: 1_500 });
    await later.open('m3');
    const reset = new ResetExecution(run, heads[1] ?? 0, 0);
    const before = await kinds(store);
    for (const again of [1, 2]) {
      await expect(reset.begin(again, {})).rejects.toMatchObject({
        code: 'InvalidInput',
        retryable: false,
        message: expect.stringContaining('holdfast fork'),
      });
    }
    expect(await kinds(store)).toEqual(before);
    expect((await later.begin(0, {})).status).toBe('begun');
  });

  test('a reset to before the run began has the message answered by another run', async () => {
    const { store } = await worked();
    const again = new Execution(store, { sessionId: 's', runId: 'r2', owner: 'execution-2', scheduledAtMs: 2_000 });
    const opened = await store.openRun(again.writer(), { ...again.opening('m1', [message('m2')]), reset: true });
    expect(opened).toMatchObject({ status: 'open' });
    expect((await store.entries('s')).map(({ item, runId }) => [item.kind, runId])).toEqual([['user_message', 'r2']]);
    expect(await store.run('r1')).toMatchObject({ status: 'abandoned' });
    expect(await store.runOfMessage('s', 'm1')).toBe('r2');
    expect(await store.outcome('s', 'm1')).toBeUndefined();
  });
});
