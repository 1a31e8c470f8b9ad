import { expect, test } from 'vitest';
import { promptHash } from '../../src/prompt/prompt-hash.ts';
import { itemsTokens } from '../../src/transcript/item-tokens.ts';
import { buildView, extendView } from '../../src/transcript/view.ts';
import { anchorAfter, estimateView } from '../../src/transcript/view-estimate.ts';
import { calls, result, results, user } from '../transcript/arbitraries.ts';
import { BUDGET, entriesOf, sessionOf, viewOf } from './sessions.ts';

const TARGET = { provider: 'p', model: 'm', promptHash: 'h', baseTokens: 300 };
const USAGE = { inputTokens: 5000, outputTokens: 50, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 20 };
const ASKED = user('Please read the big file.');
const BATCH = calls('r1', 'c1');
const BIG = results(result('c1', 'word '.repeat(6000)));

test('what came after the last report is estimated on top of it: large results are seen before the request', () => {
  const before = viewOf(sessionOf([ASKED]));
  const anchor = anchorAfter(before, TARGET, { items: 1, usage: USAGE, replaysReasoning: true });
  expect(anchor).toMatchObject({ coveredItems: 2, reportedTokens: 5050 });
  const after = extendView(before, entriesOf([BATCH, BIG], 2));
  expect(estimateView(after, TARGET, anchor)).toMatchObject({ tokens: 5050 + itemsTokens([BIG]), basis: 'anchor' });
  expect(estimateView(after, TARGET, anchor).tokens).toBeGreaterThan(8000);
});

test('reasoning that does not go back is not counted', () => {
  const anchor = anchorAfter(viewOf(sessionOf([ASKED])), TARGET, { items: 1, usage: USAGE, replaysReasoning: false });
  expect(anchor.reportedTokens).toBe(5030);
});

test('observed messages are paid once: they cover nothing in the next request', () => {
  const chatter = user('chatter '.repeat(100), 'observed');
  const view = viewOf(sessionOf([ASKED, chatter]));
  const anchor = anchorAfter(view, TARGET, { items: 1, usage: USAGE, replaysReasoning: true });
  expect(anchor).toMatchObject({ coveredItems: 2, reportedTokens: 5050 - itemsTokens([chatter]) });
});

test('after a maintenance pass the report no longer counts', () => {
  const entries = entriesOf([ASKED, BATCH, BIG]);
  const view = buildView({ entries, budget: BUDGET });
  const anchor = anchorAfter(view, TARGET, {
    items: 0,
    usage: { ...USAGE, inputTokens: 9000 },
    replaysReasoning: true,
  });
  const checkpoint = { compactionId: 'k', summary: 'S', firstKeptSeq: 2, protectedSeqs: [] };
  expect(estimateView(buildView({ entries, checkpoint, budget: BUDGET }), TARGET, anchor).basis).toBe('estimate');
});

test('a server that leaves usage out, or tells of the uncached rest only, does not count as a report', () => {
  const view = viewOf(sessionOf([ASKED, BATCH, BIG]));
  for (const inputTokens of [0, 12]) {
    const anchor = anchorAfter(view, TARGET, { items: 0, usage: { ...USAGE, inputTokens }, replaysReasoning: true });
    expect(estimateView(view, TARGET, anchor).basis).toBe('estimate');
  }
});

test('the prompt hash tells every change of prompt and tools', () => {
  const tool = { name: 'a', description: 'b', inputSchema: { type: 'object' } };
  const hashes = [
    promptHash('x', []),
    promptHash('y', []),
    promptHash('x', [tool]),
    promptHash('x', [{ ...tool, description: 'c' }]),
    promptHash('x', [{ ...tool, inputSchema: {} }]),
    promptHash('x', [tool, { ...tool, name: 'c' }]),
  ];
  expect(new Set(hashes).size).toBe(hashes.length);
  expect(promptHash('x', [tool])).toBe(hashes[2]);
});
