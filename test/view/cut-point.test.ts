import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cutPoint } from '../../src/transcript/cut-point.ts';
import { groupsOf } from '../../src/transcript/groups.ts';
import { itemsTokens } from '../../src/transcript/item-tokens.ts';
import type { AgentItem, TranscriptEntry } from '../../src/transcript/items.ts';
import { unansweredSeqs } from '../../src/transcript/protected-items.ts';
import { buildView, isObserved } from '../../src/transcript/view.ts';
import { assistant, calls, result, results, user } from '../transcript/arbitraries.ts';
import { BUDGET, bulkyItems, entriesOf, sessionOf, viewOf } from './sessions.ts';

const numRuns = Number(process.env.HOLDFAST_FC_RUNS ?? 1000);

describe('cutPoint', () => {
  test('cuts between groups, keeps no more than asked for beyond the newest group, and loses no item', () => {
    fc.assert(
      fc.property(bulkyItems, fc.nat({ max: 1500 }), (items, keepRecent) => {
        const view = viewOf(sessionOf(items.filter((item) => !isObserved(item))));
        const cut = cutPoint(view, { keepRecent });
        const starts = groupsOf(view.items).map(({ start }) => view.parts[start]?.seq);
        if (cut === undefined) {
          const last = groupsOf(view.items).at(-1);
          expect(itemsTokens(view.items) <= keepRecent || (last?.start ?? 0) === 0).toBe(true);
          return;
        }
        expect(starts).toContain(cut.firstKeptSeq);
        const kept = view.parts.filter((part) => (part.seq ?? 0) >= cut.firstKeptSeq);
        expect(cut.keptTokens).toBe(itemsTokens(kept.map((part) => part.item)));
        expect(cut.keptTokens <= keepRecent || cut.firstKeptSeq === starts.at(-1)).toBe(true);
        expect([...cut.dropped, ...kept].map((part) => part.seq)).toEqual(view.parts.map((part) => part.seq));
        expect(cut.droppedTokens + cut.keptTokens).toBe(itemsTokens(view.items));
      }),
      { numRuns },
    );
  });

  const LONG = 'word '.repeat(150);
  const TASK = [
    user('task'),
    assistant('r1', 'word '.repeat(400)),
    user('go on'),
    calls('r2', 'c1', 'c2'),
    results(result('c1', LONG), result('c2', LONG)),
    assistant('r3', 'both read'),
  ];

  test('a call is never kept without its results, nor a result without its call', () => {
    for (const keepRecent of [10, 100, 200, 300, 350]) {
      const cut = cutPoint(viewOf(sessionOf(TASK)), { keepRecent });
      // Calls and results are entries 4 and 5: a cut at 5 would tear them apart.
      expect(cut?.firstKeptSeq).not.toBe(5);
    }
  });

  test('what the open run was asked and has not answered is protected, wherever it stands', () => {
    const entries: readonly TranscriptEntry[] = [
      ...entriesOf(TASK.slice(0, 2)),
      ...entriesOf(TASK.slice(2), 3).map((entry) => ({ ...entry, runId: 'open' })),
    ];
    const view = buildView({ entries, budget: BUDGET });
    const cut = cutPoint(view, { keepRecent: 10, openRunId: 'open' });
    expect(cut).toMatchObject({ firstKeptSeq: 6, protectedSeqs: [3] });
    expect(cut?.dropped.map((part) => part.seq)).toEqual([1, 2, 4, 5]);
    const checkpoint = { compactionId: 'k', summary: 'S', firstKeptSeq: 6, protectedSeqs: cut?.protectedSeqs ?? [] };
    const after = buildView({ entries, checkpoint, budget: BUDGET });
    expect(after.items.slice(1)).toEqual([TASK[2], TASK[5]]);
    // Once answered it goes with the next compaction.
    const more = [...entries, ...entriesOf([user('next'), assistant('r9', 'word '.repeat(50))], 7)];
    const later = cutPoint(buildView({ entries: more, checkpoint, budget: BUDGET }), { keepRecent: 5 });
    expect(later?.dropped.map((part) => part.seq)).toEqual([3, 6, 7]);
  });

  test('a cut among protected items keeps them protected: what was summarised between them does not come back', () => {
    const items = [
      user(LONG),
      assistant('r1', LONG),
      user('b'),
      assistant('r2', LONG),
      user('c'),
      assistant('r3', 'd'),
    ];
    const checkpoint = { compactionId: 'k', summary: 'S', firstKeptSeq: 5, protectedSeqs: [1, 3] };
    const input = { entries: entriesOf(items), budget: BUDGET };
    const cut = cutPoint(buildView({ ...input, checkpoint }), { keepRecent: 40 });
    expect(cut).toMatchObject({ firstKeptSeq: 5, protectedSeqs: [3] });
    expect(cut?.dropped.map((part) => part.seq)).toEqual([1]);
    const after = buildView({ ...input, checkpoint: { ...checkpoint, protectedSeqs: cut?.protectedSeqs ?? [] } });
    expect(after.parts.map((part) => part.seq)).toEqual([null, 3, 5, 6]);
    expect(cut?.keptTokens).toBe(itemsTokens(after.items.slice(1)));
  });

  test('nothing is cut when all of it is recent, or when there is but one group', () => {
    expect(cutPoint(viewOf(sessionOf(TASK)), { keepRecent: 5000 })).toBeUndefined();
    expect(cutPoint(viewOf(sessionOf([user(LONG)])), { keepRecent: 1 })).toBeUndefined();
    expect(cutPoint(viewOf(sessionOf([])), { keepRecent: 1 })).toBeUndefined();
  });

  test('observed messages of the running step stay in view, and what came after them too', () => {
    const items = [...TASK, user('chatter', 'observed'), user('steer', 'steer'), user('last')];
    const view = viewOf(sessionOf(items));
    const cut = cutPoint(view, { keepRecent: 1 });
    expect(cut?.firstKeptSeq).toBe(7);
    const checkpoint = { compactionId: 'k', summary: 'S', firstKeptSeq: 7, protectedSeqs: [] };
    const after = buildView({ ...view.input, checkpoint });
    expect(after.items.slice(1)).toEqual([items[7], items[8], items[6]]);
  });

  test('no more user turns stay than allowed', () => {
    const turns: readonly AgentItem[] = [1, 2, 3, 4].flatMap((n) => [user(`q${n}`), assistant(`r${n}`, `a${n}`)]);
    expect(cutPoint(viewOf(sessionOf(turns)), { keepRecent: 5000, maxTurns: 2 })?.firstKeptSeq).toBe(5);
  });
});

test('nudges and chatter are no questions, and an idle session has none open', () => {
  const items = [user('a'), user('b', 'steer'), user('c', 'control'), user('d', 'observed')];
  const entries = entriesOf(items).map((entry) => ({ ...entry, runId: 'run' }));
  expect(unansweredSeqs(entries, 'run')).toEqual([1, 2]);
  expect(unansweredSeqs(entries, undefined)).toEqual([]);
});
