import fc from 'fast-check';
import { expect, test } from 'vitest';
import { PRUNED } from '../../src/transcript/compact-action.ts';
import { maintainView } from '../../src/transcript/maintain-view.ts';
import { shrinkView } from '../../src/transcript/shrink-view.ts';
import { blocksTokens } from '../../src/transcript/tokens.ts';
import { viewTokens } from '../../src/transcript/view.ts';
import { assistant, calls, RUNS, reasoning, result, results, user } from '../transcript/arbitraries.ts';
import { bulkyItems, sessionOf, viewOf } from './sessions.ts';

test('after a pass no output is over its cap, and another pass finds nothing', () => {
  fc.assert(
    fc.property(bulkyItems, fc.integer({ min: 60, max: 600 }), (items, outputCap) => {
      const options = { outputCap, keepRecentMessages: 4 };
      const { view, edits, tokensFreed } = maintainView(viewOf(sessionOf(items)), options);
      for (const item of view.items) {
        if (item.kind !== 'tool_result_batch') continue;
        for (const { content } of item.results) expect(blocksTokens(content)).toBeLessThanOrEqual(outputCap);
      }
      expect(view.revision).toBe(`start/${edits.length}`);
      expect(tokensFreed).toBeGreaterThanOrEqual(0);
      for (const { tokensBefore, tokensAfter } of edits) expect(tokensAfter).toBeLessThan(tokensBefore);
      expect(maintainView(view, options).edits).toEqual([]);
    }),
    // A run shortens every output of a session twice.
    { numRuns: RUNS },
  );
});

const PROSE = 'This is a sentence that says something at some length. '.repeat(40);

const LONG = [
  user(`first ${PROSE}`),
  reasoning('r1', PROSE),
  assistant('r1', PROSE),
  calls('r1', 'c1'),
  results(result('c1', PROSE)),
  user(`second ${PROSE}`),
  reasoning('r2', PROSE),
  assistant('r2', PROSE),
  calls('r2', 'c2'),
  results(result('c2', PROSE)),
];

test('a view shrinks in the drop order, and no further than needed', () => {
  const view = viewOf(sessionOf(LONG));
  const total = viewTokens(view);
  const reasons = (target: number) => {
    const { edits } = shrinkView(view, { target, outputCap: 5000 });
    return [...new Set(edits.map((edit) => edit.reason))];
  };
  expect(reasons(total)).toEqual([]);
  expect(reasons(total - 300)).toEqual(['drop_tool_output']);
  expect(reasons(total - 1000)).toEqual(['drop_tool_output', 'drop_reasoning']);
  expect(reasons(total - 1400)).toEqual(['drop_tool_output', 'drop_reasoning', 'drop_assistant_text']);
  expect(reasons(500)).toEqual(['drop_tool_output', 'drop_reasoning', 'drop_assistant_text', 'drop_user_text']);
});

test('the oldest output goes first, the newest is only cut, and the open turn keeps its reasoning', () => {
  const view = viewOf(sessionOf(LONG));
  const { view: small, fits } = shrinkView(view, { target: 700, outputCap: 5000 });
  const texts = small.items.flatMap((item) =>
    item.kind === 'tool_result_batch' ? item.results.flatMap(({ content }) => content) : [],
  );
  expect(texts[0]).toEqual({ type: 'text', text: PRUNED });
  expect(texts[1]).not.toEqual({ type: 'text', text: PRUNED });
  expect(small.items.filter((item) => item.kind === 'reasoning_summary')).toEqual([LONG[6]]);
  expect(fits).toBe(viewTokens(small) <= 700);
  expect(small.items.filter((item) => item.kind === 'user_message')).toHaveLength(2);
});
