import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DEFAULT_COMPACTION_CONFIG } from '../../src/compaction/config.ts';
import { keepIdentifiers } from '../../src/compaction/edit-identifiers.ts';
import { type CutPlan, type PlanInput, planCut } from '../../src/compaction/plan-cut.ts';
import { compactionNeed, reclaimed, turnsToKeep } from '../../src/compaction/policy.ts';
import { windowBudget } from '../../src/transcript/budget.ts';
import { groupsOf } from '../../src/transcript/groups.ts';
import type { AgentItem, TranscriptEntry } from '../../src/transcript/items.ts';
import { maintainView } from '../../src/transcript/maintain-view.ts';
import { validate } from '../../src/transcript/validate.ts';
import { buildView, type View, viewTokens } from '../../src/transcript/view.ts';
import { assistant, call, calls, result, results, user } from '../transcript/arbitraries.ts';

const WINDOW = windowBudget({ window: 8000, maxOutputTokens: 500 });

function entries(items: readonly AgentItem[], runId = 'run'): readonly TranscriptEntry[] {
  return items.map((item, at) => ({ seq: at + 1, runId, step: at, item }));
}

function viewOf(items: readonly AgentItem[], window = WINDOW): View {
  return buildView({ entries: entries(items), budget: window });
}

function step(at: number, output: string): readonly AgentItem[] {
  return [calls(`r${at}`, call(`c${at}`, { name: 'look', arguments: { at } })), results(result(`c${at}`, output))];
}

function words(tokens: number): string {
  return 'word '.repeat(tokens);
}

function plan(view: View, extra: Partial<PlanInput> = {}): CutPlan {
  return planCut({
    view,
    window: WINDOW,
    systemTokens: 300,
    toolsTokens: 200,
    trigger: 'mid_loop',
    openRunId: 'run',
    config: DEFAULT_COMPACTION_CONFIG,
    ...extra,
  });
}

/** The view after the plan, with a summary of `tokens`. */
function viewAfter(view: View, made: CutPlan, tokens = 1): View {
  if (made.kind === 'edits') return made.view;
  if (made.kind !== 'cut') return view;
  const { firstKeptSeq, protectedSeqs } = made.cut;
  return buildView({
    ...made.view.input,
    checkpoint: { compactionId: 'c', summary: words(tokens), firstKeptSeq, protectedSeqs },
  });
}

describe('planCut', () => {
  test('edits alone when they are enough', () => {
    const view = viewOf([user('task'), ...Array.from({ length: 12 }, (_, at) => step(at, words(550))).flat()]);
    const made = plan(view);
    expect(made.kind).toBe('edits');
    expect(made.kind === 'edits' && made.tokensAfterEdits).toBeLessThanOrEqual(0.7 * WINDOW.hardThreshold);
  });

  test('edits keep the exact names of what they cut', () => {
    const view = viewOf([
      user('task'),
      ...Array.from({ length: 12 }, (_, at) => step(at, `${words(300)} order 88${10 + at}-K ${words(250)}`)).flat(),
    ]);
    const made = plan(view);
    const text = JSON.stringify(viewAfter(view, made).items);
    for (let at = 0; at < 12; at += 1) expect(text).toContain(`88${10 + at}-K`);
  });

  test.each([40, 250])('the same edits are not made again: %i words on each side', (size) => {
    const output = `${words(size)} order 8841-K INV-4821 src/a.ts ${words(size)}`;
    const view = viewOf([user('task'), ...Array.from({ length: 12 }, (_, at) => step(at, output)).flat()]);
    const made = plan(view);
    expect(made.kind).toBe('edits');
    const now = viewAfter(view, made);
    expect(keepIdentifiers(now, maintainView(now, { outputCap: WINDOW.toolOutputCap }).edits)).toEqual([]);
  });

  test('a cut leaves the request well below the threshold, with a summary of full size', () => {
    const texts = Array.from({ length: 20 }, (_, at) => [
      user(`question ${at}`),
      assistant(`r${at}`, words(330)),
    ]).flat();
    const made = plan(viewOf(texts), { openRunId: 'other' });
    expect(made.kind).toBe('cut');
    expect(made.kind === 'cut' && made.tokensAtMost).toBeLessThanOrEqual(0.65 * WINDOW.hardThreshold);
  });

  test('what is replaced is left as the model saw it', () => {
    const view = viewOf([
      user('task'),
      ...Array.from({ length: 30 }, (_, at) => [...step(at, words(150)), assistant(`a${at}`, words(100))]).flat(),
    ]);
    const made = plan(view);
    expect(made.kind).toBe('cut');
    if (made.kind !== 'cut') return;
    const dropped = new Set(made.cut.dropped.map(({ seq }) => seq));
    expect(made.edits.filter(({ seq }) => dropped.has(seq))).toEqual([]);
  });

  test('a newest step that is too large is shortened', () => {
    const view = viewOf([user('old'), assistant('a', words(400)), user('big question'), ...step(1, words(9000))]);
    const made = plan(view);
    const end = viewAfter(view, made, 200);
    expect(500 + viewTokens(end)).toBeLessThanOrEqual(WINDOW.budget);
    expect(JSON.stringify(end.items)).toContain('big question');
  });

  test('system prompt and tools over the budget cannot be fitted, and the sentence says by what', () => {
    const made = plan(viewOf([user('hello'), assistant('a', 'hi')]), { systemTokens: 9000 });
    expect(made).toMatchObject({ kind: 'unfittable', breakdown: { system: 9000, tools: 200, budget: WINDOW.budget } });
    expect(made.kind === 'unfittable' && made.message).toContain('system prompt 9000');
  });

  test('a manual compaction of a session far below its window still replaces half of it', () => {
    const texts = Array.from({ length: 8 }, (_, at) => [
      user(`question ${at}`),
      assistant(`r${at}`, words(120)),
    ]).flat();
    const made = plan(viewOf(texts), { trigger: 'manual', openRunId: 'other' });
    expect(made.kind).toBe('cut');
  });

  test('a manual compaction of next to nothing does nothing', () => {
    expect(plan(viewOf([user('hello'), assistant('a', 'hi')]), { trigger: 'manual' }).kind).toBe('nothing');
  });

  test('the figure that a provider named corrects all others', () => {
    const view = viewOf([user('task'), assistant('a', words(2500)), user('next')]);
    const raw = 500 + viewTokens(view);
    const made = plan(view, { trigger: 'overflow_retry', tokens: raw * 2 });
    expect(made.tokensBefore).toBe(raw * 2);
    expect(made.factor).toBeCloseTo(2, 1);
  });

  test('messages of an open run stay, a hundred of them only as far as they have room', () => {
    const few = plan(
      viewOf([
        user('task'),
        ...Array.from({ length: 14 }, (_, at) => [...step(at, words(150)), assistant(`a${at}`, words(350))]).flat(),
      ]),
    );
    expect(few.kind === 'cut' && few.cut.protectedSeqs).toEqual([1]);
    const steered = Array.from({ length: 100 }, (_, at) => [user(words(60), 'steer'), ...step(at, words(10))]).flat();
    const many = plan(viewOf([user('task'), ...steered]));
    expect(many.kind).toBe('cut');
    if (many.kind !== 'cut') return;
    expect(many.cut.protectedSeqs[0]).toBe(1);
    // A fifth of the budget is about 22 of them: the newest.
    expect(many.cut.protectedSeqs.length).toBeLessThan(24);
    expect(many.tokensAtMost).toBeLessThanOrEqual(WINDOW.hardThreshold);
  });

  test('too many turns are halved', () => {
    const texts = Array.from({ length: 12 }, (_, at) => [
      user(`question ${at}`),
      assistant(`r${at}`, words(60)),
    ]).flat();
    const config = { ...DEFAULT_COMPACTION_CONFIG, maxHistoryTurns: 10 };
    const made = plan(viewOf(texts), { trigger: 'pre_turn', config, openRunId: 'other' });
    const end = viewAfter(viewOf(texts), made);
    expect(end.items.filter(({ kind }) => kind === 'user_message')).toHaveLength(turnsToKeep(10));
  });
});

const TURN = fc.oneof(
  fc.record({ type: fc.constant('user' as const), size: fc.integer({ min: 1, max: 400 }) }),
  fc.record({ type: fc.constant('step' as const), size: fc.integer({ min: 1, max: 1500 }) }),
  fc.record({ type: fc.constant('text' as const), size: fc.integer({ min: 1, max: 500 }) }),
);

function itemsOf(
  turns: readonly { readonly type: 'user' | 'step' | 'text'; readonly size: number }[],
): readonly AgentItem[] {
  return turns.flatMap(({ type, size }, at) => {
    if (type === 'user') return [user(words(size))];
    return type === 'step' ? step(at, words(size)) : [assistant(`t${at}`, words(size))];
  });
}

describe('laws', () => {
  test('a plan never cuts inside a group, fits what it says, and gives the same again', () => {
    const windows = fc.constantFrom(2000, 4096, 8000, 32_000);
    fc.assert(
      fc.property(
        fc.array(TURN, { minLength: 1, maxLength: 60 }),
        windows,
        fc.constantFrom('manual', 'mid_loop', 'pre_turn', 'overflow_retry'),
        fc.boolean(),
        (turns, size, trigger, open) => {
          const window = windowBudget({ window: size });
          const view = viewOf(itemsOf(turns), window);
          const input = {
            window,
            trigger,
            systemTokens: 100,
            toolsTokens: 50,
            openRunId: open ? 'run' : 'other',
          } as const;
          const made = plan(view, input);
          expect(plan(view, input)).toEqual(made);
          if (made.kind === 'cut') {
            const starts = new Set(groupsOf(view.items).map(({ start }) => view.parts[start]?.seq));
            expect(starts.has(made.cut.firstKeptSeq)).toBe(true);
            const end = viewAfter(view, made, 1);
            expect(validate(end.items, { tail: 'closed' })).toEqual([]);
            expect(made.tokensAtMost).toBeLessThanOrEqual(window.budget);
            expect(made.summaryTokens).toBeLessThan(made.replacedTokens);
          }
          if (made.kind === 'edits') expect(made.tokensAfterEdits).toBeLessThanOrEqual(window.budget);
          if (made.kind === 'nothing' && trigger !== 'manual')
            expect(made.tokensBefore).toBeLessThanOrEqual(window.hardThreshold);
        },
      ),
      { numRuns: 150 },
    );
  });
});

describe('compactionNeed', () => {
  const base = { policy: DEFAULT_COMPACTION_CONFIG, window: WINDOW, firstCall: false, idleCompactions: 0 };
  const soft = WINDOW.softThreshold + 1;
  const hard = WINDOW.hardThreshold + 1;
  const EARLY = { pays: true, earlyUsd: 1, lateUsd: 2, reason: 'compacting now pays' };

  test.each([
    ['above the hard threshold, inside a run', { tokens: hard }, 'mid_loop'],
    ['above the hard threshold, before a run', { tokens: hard, firstCall: true }, 'pre_turn'],
    ['above the soft one, inside a run', { tokens: soft }, undefined],
    ['above the soft one, before a run', { tokens: soft, firstCall: true }, 'pre_turn'],
    ['when it pays', { tokens: soft, firstCall: true, early: EARLY }, 'pre_turn'],
    ['when it does not pay', { tokens: soft, firstCall: true, early: { ...EARLY, pays: false } }, undefined],
    [
      'above the hard one it need not pay',
      { tokens: hard, firstCall: true, early: { ...EARLY, pays: false } },
      'pre_turn',
    ],
    ['at the threshold itself', { tokens: WINDOW.softThreshold, firstCall: true }, undefined],
    ['a smaller window than before', { tokens: soft, previousWindow: 9000 }, 'model_downshift'],
    ['a smaller window that it fits', { tokens: 100, previousWindow: 9000 }, undefined],
    ['a larger window than before', { tokens: soft, previousWindow: 4000 }, undefined],
    ['two without progress', { tokens: hard, idleCompactions: 2 }, undefined],
    ['one without progress', { tokens: hard, idleCompactions: 1 }, 'mid_loop'],
    ['switched off', { tokens: hard, policy: { ...DEFAULT_COMPACTION_CONFIG, enabled: false } }, undefined],
    ['manual only', { tokens: hard, policy: { ...DEFAULT_COMPACTION_CONFIG, autoEnabled: false } }, undefined],
    [
      'too many turns',
      { tokens: 10, firstCall: true, turns: 6, policy: { ...DEFAULT_COMPACTION_CONFIG, maxHistoryTurns: 5 } },
      'pre_turn',
    ],
    [
      'as many turns as allowed',
      { tokens: 10, firstCall: true, turns: 5, policy: { ...DEFAULT_COMPACTION_CONFIG, maxHistoryTurns: 5 } },
      undefined,
    ],
  ] as const)('%s', (_, input, trigger) => {
    expect(compactionNeed({ ...base, ...input })?.trigger).toBe(trigger);
  });

  test('a tenth is progress', () => {
    expect(reclaimed(1000, 900)).toBe(true);
    expect(reclaimed(1000, 901)).toBe(false);
    expect(reclaimed(0, 0)).toBe(false);
  });
});
