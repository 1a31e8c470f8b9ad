import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { SideUsage } from '../../src/store/compaction-port.ts';
import { StoreError } from '../../src/store/errors.ts';
import type { Store } from '../../src/store/store.ts';
import { RUNS } from '../transcript/arbitraries.ts';
import { assistantItem, batchItem, Execution, edit, message, userItem } from './scenario.ts';
import { availableStores } from './stores.ts';
import { expectWhole } from './whole.ts';

/** A history is some dozens of transactions, each with its own commit: a part of the usual number of runs. */
const HISTORIES = { sqlite: Math.ceil(RUNS / 20), postgres: Math.ceil(RUNS / 100) };

interface Wish {
  /** Which execution acts, seen from the one that owns the session. */
  readonly who: 'owner' | 'later' | 'earlier';
  readonly attempt: number;
  readonly run: number;
  readonly step: number;
  readonly what:
    | 'open'
    | 'begin'
    | 'answer'
    | 'ask'
    | 'start'
    | 'end'
    | 'deltas'
    | 'settle'
    | 'close'
    | 'abort'
    | 'plan'
    | 'cut';
}

/** A wish whose execution is known; a higher number is a later execution. */
type Deed = Wish & { readonly execution: number };

const often = <T>(weight: number, value: T) => ({ weight, arbitrary: fc.constant(value) });

/** Mostly the owner's first attempts at what runs do: otherwise nearly everything would be refused. */
const wish: fc.Arbitrary<Wish> = fc.record({
  who: fc.oneof(often(30, 'owner' as const), often(1, 'later' as const), often(3, 'earlier' as const)),
  attempt: fc.oneof(often(15, 1), often(2, 2), often(1, 3)),
  run: fc.oneof(often(4, 0), often(1, 1)),
  step: fc.nat(1),
  what: fc.oneof(
    ...(['begin', 'answer', 'ask', 'ask', 'start', 'end'] as const).map((what) => often(4, what)),
    ...(['plan', 'cut'] as const).map((what) => often(2, what)),
    ...(['open', 'deltas', 'settle', 'close', 'abort'] as const).map((what) => often(1, what)),
  ),
});

/** A step begins and commits in one activity, a call starts and ends in one. */
function activityOf({ what, run, step }: Deed): string {
  if (what === 'begin' || what === 'answer' || what === 'ask' || what === 'deltas') return `step-${run}-${step}`;
  if (what === 'start' || what === 'end') return `call-c-${run}-${step}`;
  if (what === 'plan' || what === 'cut') return `k-${run}-${step}`;
  return `${what}-${run}-${step}`;
}

/** What the fence must say, kept by hand: the latest execution that was let in, and the latest attempts begun. */
class FenceOracle {
  owner = 1;
  readonly #attempts = new Map<string, number>();

  refuses(deed: Deed): boolean {
    return deed.execution < this.owner || (this.#attempts.get(keyOf(deed)) ?? 1) > deed.attempt;
  }

  accepted(deed: Deed): void {
    this.owner = deed.execution;
    this.#attempts.set(keyOf(deed), Math.max(this.#attempts.get(keyOf(deed)) ?? 1, deed.attempt));
  }
}

function keyOf(deed: Deed): string {
  return `${deed.execution} ${activityOf(deed)}`;
}

const PAID: SideUsage = { model: 'offline/echo', usage: null, costUsd: 1 };

/** Plays a history on a session of its own and remembers what everybody was told. */
class Play {
  readonly store: Store;
  readonly session: string;
  readonly storeId: string;
  readonly fence = new FenceOracle();
  /** Told outcomes by what they are about: they must never change. */
  readonly told = new Map<string, unknown>();
  #unique = 0;

  constructor(store: Store, storeId: string, session: string) {
    this.store = store;
    this.storeId = storeId;
    this.session = session;
  }

  async perform(wished: Wish): Promise<void> {
    const shift = { owner: 0, later: 1, earlier: -1 }[wished.who];
    const deed = { ...wished, execution: this.fence.owner + shift };
    const expected = this.fence.refuses(deed);
    try {
      await this.#do(deed);
      expect(expected, `${JSON.stringify(deed)} should have been fenced`).toBe(false);
      this.fence.accepted(deed);
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      expect(error.code === 'Fenced', `${JSON.stringify(deed)}: ${error.message}`).toBe(expected);
    }
  }

  async #do(deed: Deed): Promise<void> {
    const { store, session } = this;
    const run = new Execution(store, {
      sessionId: session,
      runId: `${session}-r${deed.run}`,
      owner: `${session}-${deed.execution}`,
      scheduledAtMs: 1_000 * deed.execution,
    });
    run.storeId = this.storeId;
    const writer = run.writer({ activityId: activityOf(deed), attempt: deed.attempt });
    const callId = `c-${deed.run}-${deed.step}`;
    const mine = { who: [deed.execution, deed.attempt], n: this.#unique++ };
    const answers = [`m${deed.run}`];
    switch (deed.what) {
      case 'open':
        await run.open(`m${deed.run}`, [message(`q${deed.run}`)], writer);
        return;
      case 'begin':
        await run.begin(
          deed.step,
          { append: [userItem(`j-${deed.run}-${deed.step}`)], joined: [`j-${deed.run}-${deed.step}`] },
          writer,
        );
        return;
      case 'answer':
      case 'ask': {
        const items = deed.what === 'ask' ? [batchItem(callId)] : [assistantItem(JSON.stringify(mine))];
        const usage = { inputTokens: 1, outputTokens: 2, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };
        const told = await run.commit(deed.step, items, { outcome: mine, usage, costUsd: 1 }, writer);
        if (told.status === 'committed') this.#tell(`step ${deed.run} ${deed.step}`, told.outcome);
        return;
      }
      case 'start':
        await run.startCall(deed.step, callId, { attempt: deed.attempt });
        return;
      case 'end':
        this.#tell(
          `call ${callId}`,
          await run.endCall(deed.step, callId, { attempt: deed.attempt, text: JSON.stringify(mine) }),
        );
        return;
      case 'plan': {
        const more = { output: mine, edits: [edit(1)], revision: await store.viewRevision(session), usage: [PAID] };
        const told = await run.phase(`${session}-k-${deed.run}-${deed.step}`, 'plan', more, writer);
        if (told.status === 'committed') this.#tell(`plan ${deed.run} ${deed.step}`, told.output);
        return;
      }
      case 'cut': {
        const compactionId = `${session}-k-${deed.run}-${deed.step}`;
        const kept = (await store.checkpoint(session))?.firstKeptSeq ?? 1;
        const firstKeptSeq = Math.min(kept + 1, ((await store.entries(session)).at(-1)?.seq ?? 0) + 1);
        const told = await run.checkpoint(compactionId, firstKeptSeq, { output: mine }, writer);
        if (told.status === 'committed') this.#tell(`cut ${deed.run} ${deed.step}`, told.output);
        return;
      }
      case 'deltas':
        await store.appendDeltas(writer, {
          ref: run.ref(),
          step: deed.step,
          attempt: deed.attempt,
          from: 0,
          deltas: [{ kind: 'text', text: 'x' }],
        });
        return;
      case 'settle':
        await store.settleBatch(writer, { ref: run.ref(), step: deed.step, settlement: {} });
        return;
      case 'close':
        this.#tell(
          `run ${deed.run}`,
          (await run.close({ type: 'final_response', text: 'done', answers }, {}, writer)).final,
        );
        return;
      case 'abort':
        this.#tell(
          `run ${deed.run}`,
          (await run.close({ type: 'loop_aborted', reason: 'stop', answers }, { dropped: [`q${deed.run}`] }, writer))
            .final,
        );
    }
  }

  #tell(about: string, what: unknown): void {
    if (this.told.has(about)) expect(what).toEqual(this.told.get(about));
    this.told.set(about, what);
  }
}

describe.each(availableStores())('$kind: whoever writes, in whatever order', ({ kind, make }) => {
  test('the fence is exact, what was told never changes, and what is stored stays whole', async () => {
    const store = await make();
    const { storeId } = await store.identity();
    let sessions = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(wish, { minLength: 10, maxLength: 60 }), async (wishes) => {
        const play = new Play(store, storeId, `s${sessions++}`);
        for (const each of [{ who: 'owner', attempt: 1, run: 0, step: 0, what: 'open' } as const, ...wishes]) {
          await play.perform(each);
        }
        await expectWhole(store, play.session);
      }),
      { numRuns: HISTORIES[kind] },
    );
  });
});
