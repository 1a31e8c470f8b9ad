import { expect, test } from 'vitest';
import { LOOP_TEXT } from '../../src/activities/control-message.ts';
import { repeatsOf, viewRepeats } from '../../src/activities/loop-guard.ts';
import type { AgentItem, ResponseRef, TranscriptEntry } from '../../src/transcript/items.ts';
import type { JsonObject } from '../../src/transcript/json.ts';
import { buildView } from '../../src/transcript/view.ts';

const response: ResponseRef = { id: 'resp', provider: 'p', model: 'm', api: 'offline' };

/** One batch: `name`, or `name:argument`, and after `=` its result. */
function batch(...calls: readonly string[]): AgentItem[] {
  const parsed = calls.map((each, at) => {
    const [asked = '', result = 'same'] = each.split('=');
    const [name = '', arg = ''] = asked.split(':');
    const args: JsonObject = arg === 'reversed' ? { b: 1, a: 2 } : { a: 2, b: 1, ...(arg === '' ? {} : { arg }) };
    return { callId: `c${at}`, name, args, result };
  });
  return [
    {
      kind: 'tool_call_batch',
      schemaVersion: 1,
      response,
      calls: parsed.map(({ callId, name, args }) => ({ callId, nativeId: callId, name, arguments: args })),
    } as AgentItem,
    {
      kind: 'tool_result_batch',
      schemaVersion: 1,
      results: parsed.map(({ callId, result }) => ({
        callId,
        status: 'ok',
        content: [{ type: 'text', text: result }],
      })),
    } as AgentItem,
  ];
}

function said(origin: 'user' | 'steer' | 'control', text = 'go'): AgentItem {
  return { kind: 'user_message', schemaVersion: 1, origin, content: [{ type: 'text', text }] };
}

function entries(...items: readonly (AgentItem | AgentItem[])[]): TranscriptEntry[] {
  return items.flat().map((item, at) => ({ seq: at + 1, runId: 'r', step: 0, item }) as TranscriptEntry);
}

const count = (...items: readonly (AgentItem | AgentItem[])[]) =>
  repeatsOf(entries(said('user'), ...items), 'r', (name) => name === 'poll').count;

test.each([
  ['none yet', [], 0],
  ['one', [batch('a')], 1],
  ['the same three times', [batch('a'), batch('a'), batch('a')], 3],
  ['the keys of arguments in another order', [batch('a'), batch('a:reversed')], 2],
  ['another result in between', [batch('a'), batch('a=new'), batch('a')], 1],
  ['other arguments', [batch('a:x'), batch('a:y')], 1],
  ['another call in between', [batch('a'), batch('b'), batch('a')], 1],
  ['the same batch of parallel calls, in any order', [batch('a', 'b'), batch('b', 'a'), batch('a', 'b')], 3],
  ['a parallel call that is another each time', [batch('a', 'b:1'), batch('a', 'b:2')], 1],
  ['a call twice in one batch', [batch('a', 'a'), batch('a')], 2],
  ['only pollable calls', [batch('poll'), batch('poll'), batch('poll')], 0],
  ['a pollable call beside it', [batch('a', 'poll=1'), batch('a', 'poll=2')], 2],
  ['a pollable call in between', [batch('a'), batch('poll'), batch('a')], 1],
  ['a person says something in between', [batch('a'), batch('a'), said('steer'), batch('a')], 1],
  ['a hidden message in between', [batch('a'), batch('a'), said('control'), batch('a')], 3],
] as const)('%s', (_, items, expected) => {
  expect(count(...items)).toBe(expected);
});

test('calls of an earlier run do not count', () => {
  const before = entries(batch('a'), batch('a')).map((entry) => ({ ...entry, runId: 'before' }));
  expect(repeatsOf([...before, ...entries(batch('a'))], 'r', () => false).count).toBe(1);
});

test('a warning counts while what it was about goes on', () => {
  const warning = said('control', LOOP_TEXT);
  const warned = (...more: readonly AgentItem[][]) =>
    repeatsOf(entries(batch('a'), batch('a'), batch('a'), warning, ...more), 'r', () => false).warned;
  expect([warned(), warned(batch('a')), warned(batch('b'))]).toEqual([true, true, false]);
});

test('after a compaction the store is asked what a view no longer holds', async () => {
  const all = entries(said('user'), batch('a'), batch('a'), batch('a'), batch('a'), batch('a'));
  const kept = all.filter(({ seq }) => seq >= 8);
  const checkpoint = {
    compactionId: 'c',
    summary: 'before',
    firstKeptSeq: 8,
    protectedSeqs: [],
  };
  const view = buildView({ entries: kept, checkpoint, budget: { budget: 1000 } } as never);
  const store = { entries: async () => all };
  const place = { sessionId: 's', runId: 'r', head: 11 };
  expect(await viewRepeats(store, place, view, () => false)).toMatchObject({ count: 5 });
  expect(await viewRepeats(store, { ...place, head: 9 }, view, () => false)).toMatchObject({ count: 4 });
});
