import { expect, test } from 'vitest';
import { explainView } from '../../src/transcript/explain-view.ts';
import { maintainView } from '../../src/transcript/maintain-view.ts';
import { buildView, viewTokens } from '../../src/transcript/view.ts';
import { assistant, calls, result, results, user } from '../transcript/arbitraries.ts';
import { entriesOf } from './sessions.ts';

test('of each item it says what became of it and why', () => {
  const entries = entriesOf([
    user('an old question'),
    assistant('r1', 'an old answer'),
    user(`unanswered ${'word '.repeat(400)}`),
    calls('r2', 'c1'),
    results(result('c1', 'row\n'.repeat(2000))),
    user('chatter', 'observed'),
    calls('r3', 'c2'),
    results('c2'),
  ]);
  const checkpoint = { compactionId: 'k7', summary: 'They talked.', firstKeptSeq: 4, protectedSeqs: [3] };
  const before = buildView({ entries, checkpoint, budget: { budget: 800 } });
  const { view } = maintainView(before, { outputCap: 100 });
  const { items, tokens } = explainView(view);
  expect(items.map(({ seq, kind, fate, why }) => [seq, kind, fate, why])).toEqual([
    [null, 'compaction_summary', 'summary', 'stands for what was summarised'],
    [3, 'user_message', 'cut', 'protected, but over an eighth of the budget'],
    [4, 'tool_call_batch', 'kept', 'recent'],
    [5, 'tool_result_batch', 'edited', 'output over its cap: head and tail kept'],
    [7, 'tool_call_batch', 'kept', 'recent'],
    [8, 'tool_result_batch', 'kept', 'recent'],
    [1, 'user_message', 'summarised', 'replaced by compaction k7'],
    [2, 'assistant_message', 'summarised', 'replaced by compaction k7'],
    [6, 'user_message', 'omitted', 'observed context: its step is over'],
  ]);
  expect(tokens).toBe(viewTokens(view));
  expect(items[3]?.originalTokens).toBeGreaterThan(1000);
  expect(items[6]).toMatchObject({ tokens: 0 });
});

test('what a repair added or mended is told as such', () => {
  const view = buildView({ entries: entriesOf([user('go'), calls('r1', 'c1')]), budget: { budget: 800 } });
  expect(explainView(view).items.map(({ seq, fate }) => [seq, fate])).toEqual([
    [1, 'kept'],
    [2, 'kept'],
    [null, 'repaired'],
  ]);
});
