// A process that does one run over and over the same way, as a worker would; see processes.test.ts.
import { StoreError } from '../../src/store/errors.ts';
import { openStore } from '../../src/store/open-store.ts';
import { batchItem, Execution } from './scenario.ts';

/** What the parent says: where, who, and how much. */
export interface RaceOrder {
  readonly location: string;
  readonly owner: string;
  readonly scheduledAtMs: number;
  readonly name: string;
  readonly steps: number;
}

/** What the racer was told by the store, by what it was about; `error` when it was stopped. */
export interface RaceReport {
  readonly told: Readonly<Record<string, unknown>>;
  readonly error?: string;
}

async function race(order: RaceOrder): Promise<RaceReport> {
  const { owner, scheduledAtMs, name } = order;
  const told: Record<string, unknown> = {};
  const store = await openStore(order.location, { busyTimeoutMs: 60_000 });
  const run = new Execution(store, { sessionId: 's', runId: 'r1', owner, scheduledAtMs });
  try {
    process.send?.('ready');
    await run.open('m1');
    for (let step = 0; step < order.steps; step += 1) {
      const callId = `c${step}`;
      await run.begin(step);
      const ref = run.ref();
      const deltas = [{ kind: 'text', text: name }] as const;
      await store.appendDeltas(run.writer({ activityId: `step-${step}` }), { ref, step, attempt: 1, from: 0, deltas });
      const committed = await run.commit(step, [batchItem(callId)], { outcome: name });
      if (committed.status === 'committed') told[`step ${step}`] = committed.outcome;
      await run.startCall(step, callId);
      told[callId] = await run.endCall(step, callId, { text: `${name} saw ${callId}` });
    }
    told.final = await run.close({ type: 'final_response', text: name, answers: ['m1'] });
    return { told };
  } catch (error) {
    if (error instanceof StoreError) return { told, error: error.code };
    throw error;
  } finally {
    await store.close();
  }
}

process.once('message', (order: RaceOrder) => {
  void race(order).then((report) => process.send?.(report, () => process.exit(0)));
});
