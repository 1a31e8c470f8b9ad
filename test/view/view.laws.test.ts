import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { cutPoint } from '../../src/transcript/cut-point.ts';
import { explainView } from '../../src/transcript/explain-view.ts';
import { handOver } from '../../src/transcript/hand-over.ts';
import type { AgentItem } from '../../src/transcript/items.ts';
import { mediaEdits } from '../../src/transcript/media-edits.ts';
import { microcompact } from '../../src/transcript/microcompact.ts';
import { normalize } from '../../src/transcript/normalize.ts';
import { settle } from '../../src/transcript/settle.ts';
import { shrinkView } from '../../src/transcript/shrink-view.ts';
import { validate } from '../../src/transcript/validate.ts';
import { buildView, extendView, type View, viewTokens } from '../../src/transcript/view.ts';
import { anyTranscript, call, calls, RUNS, SCOPE } from '../transcript/arbitraries.ts';
import {
  BUDGET,
  bulkyItems,
  entriesOf,
  inputOf,
  renamed,
  type Session,
  sessionOf,
  storedItems,
  viewOf,
  wireOf,
} from './sessions.ts';

const options = { numRuns: RUNS };

// A run builds a dozen views: on a machine that does other things besides, a thousand of them take their time.
vi.setConfig({ testTimeout: 300_000 });

type Operation =
  | { readonly what: 'append'; readonly items: readonly AgentItem[] }
  | { readonly what: 'abort'; readonly calls: number; readonly status: 'aborted' | 'cancelled' | 'unknown_outcome' }
  | { readonly what: 'truncate'; readonly target: number }
  | { readonly what: 'microcompact'; readonly keep: number; readonly thinking: boolean }
  | { readonly what: 'media' }
  | { readonly what: 'compact'; readonly keepRecent: number; readonly open: boolean }
  | { readonly what: 'save_load' };

const operation: fc.Arbitrary<Operation> = fc.oneof(
  { weight: 2, arbitrary: fc.record({ what: fc.constant('append' as const), items: bulkyItems }) },
  {
    weight: 2,
    arbitrary: fc.record({
      what: fc.constant('abort' as const),
      calls: fc.integer({ min: 1, max: 3 }),
      status: fc.constantFrom('aborted' as const, 'cancelled' as const, 'unknown_outcome' as const),
    }),
  },
  { weight: 1, arbitrary: fc.record({ what: fc.constant('truncate' as const), target: fc.nat({ max: 1500 }) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      what: fc.constant('microcompact' as const),
      keep: fc.nat({ max: 10 }),
      thinking: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ what: 'media' as const }) },
  {
    weight: 3,
    arbitrary: fc.record({
      what: fc.constant('compact' as const),
      keepRecent: fc.nat({ max: 1200 }),
      open: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ what: 'save_load' as const }) },
);

const history = fc.tuple(bulkyItems, fc.array(operation, { minLength: 1, maxLength: 4 }));

function sessionAfter([items, operations]: [readonly AgentItem[], readonly Operation[]]): Session {
  return operations.reduce((session, one, nth) => after(session, one, nth), sessionOf(items));
}

function after(session: Session, operation: Operation, nth: number): Session {
  const view = viewOf(session);
  const next = (session.entries.at(-1)?.seq ?? 0) + 1;
  const appended = (items: readonly AgentItem[]): Session => {
    return { ...session, entries: [...session.entries, ...entriesOf(renamed(items, `o${nth}-`), next)] };
  };
  switch (operation.what) {
    case 'append':
      return appended(operation.items);
    case 'abort': {
      const batch = calls('gone', ...Array.from({ length: operation.calls }, (_, i) => call(`a${i}`)));
      return appended([batch, settle(batch, [], { a0: { status: operation.status } })]);
    }
    case 'truncate': {
      const { edits } = shrinkView(view, { target: operation.target, outputCap: 400 });
      return { ...session, edits: [...session.edits, ...edits] };
    }
    case 'microcompact': {
      const { edits } = microcompact(view, {
        keepRecentMessages: operation.keep,
        compactThinking: operation.thinking,
      });
      return { ...session, edits: [...session.edits, ...edits] };
    }
    case 'media':
      return { ...session, edits: [...session.edits, ...mediaEdits(view, { maxBytes: 2000 })] };
    case 'compact': {
      const open = operation.open ? session.entries.at(-1)?.runId : undefined;
      const cut = cutPoint(view, {
        keepRecent: operation.keepRecent,
        ...(open === undefined ? {} : { openRunId: open }),
      });
      if (cut === undefined) return session;
      const { firstKeptSeq, protectedSeqs } = cut;
      return {
        ...session,
        checkpoint: { compactionId: `k${nth}`, summary: `Summary ${nth}`, firstKeptSeq, protectedSeqs },
      };
    }
    case 'save_load':
      return JSON.parse(JSON.stringify(session)) as Session;
  }
}

const TARGET = {
  scope: { ...SCOPE, model: 'other' },
  api: 'openai-chat',
  provider: 'elsewhere',
  accepts: { image: false, audio: false, file: false },
} as const;

test('after any composition of abort, truncate, microcompact, compact, save and load, every law of a view holds', () => {
  fc.assert(
    fc.property(history, storedItems, (drawn, added) => {
      const session = sessionAfter(drawn);
      const view = viewOf(session);
      expectStablePrefix(session, view, renamed(added, 'z'));
      expectValidWithoutRepairs(view);
      expectAllCallIds(session, view);
      expectExactExplanation(session, view);
      expectSameFromNeededEntries(session, view);
      expectValidElsewhere(view);
    }),
    options,
  );
});

function expectValidWithoutRepairs(view: View): void {
  expect(view.repairs).toEqual([]);
  expect(validate(view.items, { tail: 'closed' })).toEqual([]);
}

/** The call ids of a session are all in its view, or replaced by a summary. */
function expectAllCallIds({ entries, checkpoint }: Session, view: View): void {
  const idsOf = (items: readonly AgentItem[]) =>
    items.flatMap((item) => (item.kind === 'tool_result_batch' ? item.results.map((result) => result.callId) : []));
  const kept = entries.filter(({ seq }) => seq >= (checkpoint?.firstKeptSeq ?? 0)).map(({ item }) => item);
  expect(idsOf(view.items)).toEqual(idsOf(kept));
}

/** The explanation names every entry once, and its tokens add up to those of the view. */
function expectExactExplanation({ entries }: Session, view: View): void {
  const explained = explainView(view);
  const named = explained.items.flatMap(({ seq }) => seq ?? []).sort((a, b) => a - b);
  expect(named).toEqual(entries.map(({ seq }) => seq));
  expect(explained.tokens).toBe(viewTokens(view));
  expect(explained.items.reduce((sum, item) => sum + item.tokens, 0)).toBe(explained.tokens);
}

/** Entries that a checkpoint replaced need not be read. */
function expectSameFromNeededEntries(session: Session, view: View): void {
  const { checkpoint } = session;
  if (checkpoint === undefined) return;
  const needed = session.entries.filter(
    ({ seq }) => seq >= checkpoint.firstKeptSeq || checkpoint.protectedSeqs.includes(seq),
  );
  expect(buildView({ ...inputOf(session), entries: needed }).items).toEqual(view.items);
}

/** Handed over to another model it is still valid, and nothing goes where it does not belong. */
function expectValidElsewhere(view: View): void {
  for (const foreignReasoning of ['text', 'omit'] as const) {
    const { items } = handOver(view.items, { ...TARGET, foreignReasoning });
    expect(validate(normalize(items).items, { tail: 'closed', target: TARGET.scope })).toEqual([]);
  }
}

test('a view of any list of items, broken ones too, is valid', () => {
  fc.assert(
    fc.property(anyTranscript, (items) => {
      const view = viewOf(sessionOf(items));
      expect(validate(view.items, { tail: 'closed' })).toEqual([]);
      expect(view.parts.map((part) => part.item)).toEqual(view.items);
    }),
    options,
  );
});

/** Between two passes the request of a step is a byte prefix of that of the next, and an extended view is a rebuilt one. */
function expectStablePrefix(session: Session, view: View, added: readonly AgentItem[]): void {
  const entries = entriesOf(added, (session.entries.at(-1)?.seq ?? 0) + 1);
  const longer = viewOf({ ...session, entries: [...session.entries, ...entries] });
  expect(wireOf(withoutObserved(longer)).startsWith(wireOf(withoutObserved(view)))).toBe(true);
  expect(longer.revision).toBe(view.revision);
  expect(extendView(view, entries)).toEqual(longer);
}

function withoutObserved(view: View): View {
  return { ...view, items: view.items.filter((item) => !(item.kind === 'user_message' && item.origin === 'observed')) };
}

test('extending a view by any entries, broken ones too, gives exactly what building it anew gives', () => {
  fc.assert(
    fc.property(anyTranscript, fc.array(anyTranscript, { minLength: 1, maxLength: 3 }), (items, pieces) => {
      let session = sessionOf(items);
      let view = viewOf(session);
      for (const piece of pieces) {
        const added = entriesOf(piece, (session.entries.at(-1)?.seq ?? 0) + 1);
        session = { ...session, entries: [...session.entries, ...added] };
        view = extendView(view, added);
        expect(view).toEqual(viewOf(session));
      }
    }),
    options,
  );
});

test('a view extended by a whole response with its results shares the items of its prefix', () => {
  const view = viewOf(sessionOf([{ ...USER, content: [{ type: 'text', text: 'go' }] }]));
  const batch = calls('r1', 'c1');
  const longer = extendView(view, entriesOf([batch, settle(batch, [], {})], 2));
  expect(longer.items[0]).toBe(view.items[0]);
  expect(longer.items).toHaveLength(3);
});

const USER = { kind: 'user_message', schemaVersion: 1, origin: 'user', content: [] } as const;

test('shrinking frees what its edits say, and touches user text only when all tool output is small', () => {
  fc.assert(
    fc.property(bulkyItems, fc.nat({ max: 2000 }), (items, target) => {
      const view = viewOf(sessionOf(items));
      const shrunk = shrinkView(view, { target, outputCap: 400 });
      const freed = shrunk.edits.reduce((sum, edit) => sum + edit.tokensBefore - edit.tokensAfter, 0);
      expect(shrunk.tokensFreed).toBeGreaterThanOrEqual(freed);
      expect(shrunk.tokensFreed).toBe(viewTokens(view) - viewTokens(shrunk.view));
      expect(shrunk.fits).toBe(viewTokens(shrunk.view) <= target);
      if (viewTokens(view) <= target) expect(shrunk.edits).toEqual([]);
      if (shrunk.edits.some((edit) => edit.reason === 'drop_user_text')) {
        const outputs = shrunk.view.items.flatMap((item) => (item.kind === 'tool_result_batch' ? item.results : []));
        for (const { content } of outputs) expect(JSON.stringify(content).length).toBeLessThan(2000);
      }
    }),
    // A run shortens every text of a session up to fourteen times.
    { numRuns: RUNS },
  );
});

test('a protected message takes at most an eighth of the budget, head and tail', () => {
  const long = { ...USER, content: [{ type: 'text', text: `BEGIN ${'word '.repeat(5000)} END` }] } as const;
  const entries = entriesOf([long, { ...USER, content: [{ type: 'text', text: 'next' }] }]);
  const checkpoint = { compactionId: 'k', summary: 'S', firstKeptSeq: 2, protectedSeqs: [1] };
  const view = buildView({ entries, checkpoint, budget: BUDGET });
  const shown = JSON.stringify(view.items[1]);
  expect(view.items.map((item) => item.kind)).toEqual(['compaction_summary', 'user_message', 'user_message']);
  expect(shown).toMatch(/BEGIN .* END/);
  expect(explainView(view).items[1]).toMatchObject({ fate: 'cut', seq: 1 });
  expect(explainView(view).items[1]?.tokens).toBeLessThanOrEqual(BUDGET.budget / 8 + 4);
});

test('a protected item that is kept anyway is not shown twice', () => {
  const entries = entriesOf([USER, { ...USER, content: [{ type: 'text', text: 'next' }] }]);
  const checkpoint = { compactionId: 'k', summary: 'S', firstKeptSeq: 1, protectedSeqs: [1, 2] };
  expect(buildView({ entries, checkpoint, budget: BUDGET }).parts.map((part) => part.seq)).toEqual([null, 1, 2]);
});

test('observed messages stand last while their step lasts, and are gone after it', () => {
  const observed = { ...USER, origin: 'observed', content: [{ type: 'text', text: 'chatter' }] } as const;
  const user = { ...USER, content: [{ type: 'text', text: 'hello' }] } as const;
  const batch = calls('r1', 'c1');
  const before = viewOf(sessionOf([observed, user]));
  expect(before.items).toEqual([user, observed]);
  const later = viewOf(sessionOf([observed, user, batch, settle(batch, [], {})]));
  expect(later.items.map((item) => item.kind)).toEqual(['user_message', 'tool_call_batch', 'tool_result_batch']);
  expect(explainView(later).items.at(-1)).toMatchObject({ seq: 1, fate: 'omitted', tokens: 0 });
});

test('a view without maintenance holds every item that is no observed context', () => {
  fc.assert(
    fc.property(storedItems, (items) => {
      const expected = items.filter((item) => !(item.kind === 'user_message' && item.origin === 'observed'));
      expect(withoutObserved(viewOf(sessionOf(items))).items).toEqual(expected);
    }),
    options,
  );
});
