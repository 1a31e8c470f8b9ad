import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { loadView, type ViewStore } from '../../src/store/load-view.ts';
import type { Store } from '../../src/store/store.ts';
import { buildView, type View } from '../../src/transcript/view.ts';
import { wireOf } from '../view/sessions.ts';
import { checkpointOfRevision, LIVES, life, live } from './compacted.ts';
import { Execution, edit, userItem } from './scenario.ts';
import { availableStores } from './stores.ts';

const BUDGET = 600;

/** The definition: everything is read, and the pure view knows what to show. */
async function wholeView(store: Store, sessionId: string, revision: string, head: number): Promise<View> {
  const checkpoint = await checkpointOfRevision(store, sessionId, revision);
  return buildView({
    entries: (await store.entries(sessionId)).filter(({ seq }) => seq <= head),
    edits: await store.viewEdits(sessionId, Number(revision.split('/').at(-1))),
    budget: { budget: BUDGET },
    ...(checkpoint === undefined ? {} : { checkpoint }),
  });
}

function shown({ revision, items, parts, repairs }: View) {
  return { revision, items, parts, repairs };
}

describe.each(availableStores())('$kind: a view that is loaded', ({ kind, make }) => {
  test('is the one built of the whole session, for every revision that it ever had and every head', async () => {
    const store = await make();
    let sessions = 0;
    await fc.assert(
      fc.asyncProperty(life, fc.nat(1_000), async (lived, chosen) => {
        const sessionId = `s${sessions++}`;
        const { entries, revisions } = await live(store, sessionId, lived);
        for (const revision of revisions) {
          for (const head of new Set([entries.length, chosen % (entries.length + 1)])) {
            const loaded = await loadView(store, sessionId, { revision, head, budget: BUDGET });
            const whole = await wholeView(store, sessionId, revision, head);
            expect(shown(loaded)).toEqual(shown(whole));
            expect(wireOf(loaded)).toBe(wireOf(whole));
            expect(loaded.revision).toBe(revision);
          }
        }
      }),
      { numRuns: LIVES[kind] },
    );
  });

  async function long() {
    const store = await make();
    const items = Array.from({ length: 1_300 }, (_, at) => userItem(`m${at + 1}`));
    await store.importSession({ sessionId: 's', runId: 'i', items });
    const run = new Execution(store, { sessionId: 's', runId: 'r' });
    await run.openWithout();
    await run.phase('k', 'plan', { edits: [edit(3), edit(7), edit(1_201)], revision: 'start/0' });
    await run.checkpoint('k', 1_200, { protectedSeqs: [3, 40] });
    return { store, run };
  }

  test('reads nothing of what its checkpoint replaced', async () => {
    const { store } = await long();
    const asked: unknown[] = [];
    const spied: ViewStore = {
      checkpoint: (...args) => store.checkpoint(...args),
      viewRevision: (...args) => store.viewRevision(...args),
      entries: (...args) => {
        asked.push(args[1]);
        return store.entries(...args);
      },
      entriesAt: (...args) => {
        asked.push(args[1]);
        return store.entriesAt(...args);
      },
      viewEdits: async (...args) => {
        const edits = await store.viewEdits(...args);
        asked.push(edits.map(({ seq }) => seq));
        return edits;
      },
    };
    const view = await loadView(spied, 's', { revision: 'k/3', head: 1_300, budget: BUDGET });
    expect(view.revision).toBe('k/3');
    expect(view.parts.map(({ seq }) => seq).slice(0, 4)).toEqual([null, 3, 40, 1_200]);
    expect(view.parts).toHaveLength(104);
    expect(asked).toEqual([[3, 1_201], [3, 40], { afterSeq: 1_199, limit: 101 }]);
  });

  test('a long session without a checkpoint is read page by page, up to its head', async () => {
    const { store } = await long();
    const view = await loadView(store, 's', { revision: 'start/0', head: 1_250, budget: BUDGET });
    expect(view.parts.map(({ seq }) => seq)).toEqual(Array.from({ length: 1_250 }, (_, at) => at + 1));
  });

  test('a revision that the session never had, or that is none, is refused', async () => {
    const { store } = await long();
    const load = (revision: string, sessionId = 's') =>
      loadView(store, sessionId, { revision, head: 9, budget: BUDGET });
    await expect(load('other/3')).rejects.toMatchObject({ name: 'StoreError', code: 'NotFound' });
    await expect(load('k/4')).rejects.toMatchObject({ code: 'NotFound' });
    await expect(load('start/0', 'nowhere')).rejects.toMatchObject({ code: 'NotFound' });
    for (const none of ['', 'k', '/3', 'k/x']) await expect(load(none)).rejects.toMatchObject({ code: 'Internal' });
  });
});
