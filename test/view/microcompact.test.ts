import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type CompactAction, compacted, decideStrategy, PRUNED } from '../../src/transcript/compact-action.ts';
import type { AgentItem } from '../../src/transcript/items.ts';
import type { Message } from '../../src/transcript/message.ts';
import { microcompact } from '../../src/transcript/microcompact.ts';
import { microcompactMessages } from '../../src/transcript/microcompact-messages.ts';
import { looksLikeError, type ResultSemantic, resultScore } from '../../src/transcript/microcompact-score.ts';
import { buildView, viewTokens } from '../../src/transcript/view.ts';
import { assistant, calls, reasoning, result, results, SCOPE, user } from '../transcript/arbitraries.ts';
import { BUDGET, bulkyItems, entriesOf, sessionOf, viewOf } from './sessions.ts';

const numRuns = Number(process.env.HOLDFAST_FC_RUNS ?? 1000);
const SKIP: CompactAction = { type: 'skip' };
const SHORT: CompactAction = { type: 'truncate', keep: 200 };

const MATRIX: readonly (readonly [characters: number, score: number, CompactAction, why: string])[] = [
  [0, -9, SKIP, 'nothing to gain'],
  [200, -9, SKIP, 'still small'],
  [201, 1, SKIP, 'middling, but worth it'],
  [2000, 3, SKIP, 'middling, but worth it'],
  [201, 0.5, SHORT, 'middling and worth little'],
  [2000, -1, SHORT, 'middling and worth nothing'],
  [2001, 2, { type: 'truncate_structured', keep: 500 }, 'large and a fact'],
  [2001, 1.5, SHORT, 'large and half a fact'],
  [2001, 1, SHORT, 'large and half a fact'],
  [2001, 0.5, { type: 'replace' }, 'large and worth little'],
  [1_000_000, -3, { type: 'replace' }, 'large and worth nothing'],
];

test.each(MATRIX)('%i characters worth %f: %o, because %s', (characters, score, action) => {
  expect(decideStrategy(characters, score)).toEqual(action);
});

const LIST = JSON.stringify([{ id: 1 }, { id: 2 }, { id: 3 }]);
const SCORES: readonly (readonly [ResultSemantic, string, steps: number, score: number])[] = [
  ['factual', 'plain text', 0, 1],
  ['action', 'plain text', 0, -1],
  ['mixed', 'plain text', 0, 0],
  ['factual', LIST, 0, 2],
  ['factual', `{"items":${LIST},"total":3}`, 4, 2],
  ['factual', LIST, 5, 1.5],
  ['factual', LIST, 14, 1],
  ['mixed', '{"ok":true}', 0, -1],
  ['mixed', '{"status":"created","id":17}', 0, -1],
  ['mixed', 'Done.', 0, -1],
  ['mixed', '已完成。', 0, -1],
  ['mixed', '{"status":"ok","rows":{"a":1}}', 0, 0],
  ['action', '{"success":true}', 10, -3],
];

test.each(SCORES)('a %s result %s, %i steps old, is worth %f', (semantic, text, stepsSinceReferenced, score) => {
  expect(resultScore({ semantic, text, stepsSinceReferenced })).toBe(score);
});

test('JSON that speaks of an error is told from JSON that merely has the member', () => {
  const errors = ['{"error":"no such file"}', '{"isError":true}', '{"error":{"code":5},"x":1}'];
  const others = ['{"error":null}', '{"error":""}', '{"errors":0}', '[{"error":"x"}]', 'error: no'];
  expect([errors.every(looksLikeError), others.some(looksLikeError)]).toEqual([true, false]);
});

test('structured cutting keeps valid JSON, and no action ever makes a text longer', () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.oneof(
          fc.nat(),
          fc.string({ maxLength: 40 }),
          fc.dictionary(fc.string({ maxLength: 5 }), fc.boolean(), { maxKeys: 3 }),
        ),
      ),
      fc.nat({ max: 300 }),
      (rows, size) => {
        const pad = 'padding, '.repeat(size);
        const text = JSON.stringify({ rows, pad });
        const structured = compacted(text, { type: 'truncate_structured', keep: 500 });
        expect(structured.length).toBeLessThanOrEqual(Math.max(500, text.length));
        if (structured.length <= 500) expect(() => JSON.parse(structured)).not.toThrow();
        for (const action of [SHORT, { type: 'replace' } as const, SKIP]) {
          expect(compacted(text, action).length).toBeLessThanOrEqual(text.length);
        }
      },
    ),
    { numRuns },
  );
});

/** A session of `steps` steps, each with one result of `text`. */
function steps(
  count: number,
  text: (step: number) => string,
  said: (step: number) => string = () => '',
): readonly AgentItem[] {
  return [
    user('go'),
    ...Array.from({ length: count }, (_, step): readonly AgentItem[] => {
      const saying = said(step) === '' ? [] : [assistant(`r${step}`, said(step))];
      return [...saying, calls(`r${step}`, `c${step}`), results(result(`c${step}`, text(step)))];
    }).flat(),
  ];
}

function textsOf(items: readonly AgentItem[]): readonly string[] {
  return items.flatMap((item) =>
    item.kind === 'tool_result_batch'
      ? item.results.map(({ content }) => content.map((block) => (block.type === 'text' ? block.text : '')).join(''))
      : [],
  );
}

function compactedItems(
  items: readonly AgentItem[],
  options: Parameters<typeof microcompact>[1] = {},
): readonly AgentItem[] {
  const { edits } = microcompact(viewOf(sessionOf(items)), options);
  return buildView({ entries: entriesOf(items), edits, budget: BUDGET }).items;
}

const BULK = 'lorem ipsum dolor sit amet '.repeat(120);

describe('microcompact', () => {
  test('leaves the last ten messages alone, and replaces what is large and worth little before them', () => {
    const texts = textsOf(compactedItems(steps(8, () => BULK)));
    // One user message and eight steps of two messages: seven messages are old, three results among them.
    expect(texts.map((text) => text === PRUNED)).toEqual([true, true, true, false, false, false, false, false]);
  });

  test('the size of what stays is asked for in messages', () => {
    expect(
      textsOf(
        compactedItems(
          steps(3, () => BULK),
          { keepRecentMessages: 0 },
        ),
      ),
    ).toEqual([PRUNED, PRUNED, PRUNED]);
    expect(microcompact(viewOf(sessionOf(steps(3, () => BULK))), { keepRecentMessages: 7 }).edits).toEqual([]);
  });

  test('what the tool declared decides between cutting and replacing', () => {
    const list = JSON.stringify(Array.from({ length: 200 }, (_, id) => ({ id, name: `row ${id}` })));
    const options = { keepRecentMessages: 0, semanticOf: () => 'factual' as const };
    const [text = ''] = textsOf(
      compactedItems(
        steps(1, () => list),
        options,
      ),
    );
    expect(JSON.parse(text)[0]).toEqual({ id: 0, name: 'row 0' });
    expect(text.length).toBeLessThanOrEqual(500);
  });

  test('a result that later text refers to is kept longer than one that nobody mentions', () => {
    const text = (step: number) =>
      `${step === 0 ? 'turbine calibration threshold ' : 'filler words '}${'x '.repeat(300)}`;
    const said = (step: number) => (step === 8 ? 'The turbine calibration threshold matters.' : '');
    const options = { keepRecentMessages: 0, semanticOf: () => 'factual' as const };
    const texts = textsOf(compactedItems(steps(9, text, said), options));
    expect(texts[0]).toBe(text(0));
    expect(texts[1]).toContain('[cut from');
  });

  test('images stay beside a text that is merely cut, and go with one that is replaced', () => {
    const media = { sha256: 'ab'.repeat(32), mediaType: 'image/png', byteLength: 9 };
    const shot = (text: string) => [
      user('go'),
      calls('r', 'c'),
      results({
        ...result('c', text),
        content: [
          { type: 'text', text },
          { type: 'image', media },
        ],
      }),
    ];
    const kinds = (items: readonly AgentItem[]) =>
      items.flatMap((item) =>
        item.kind === 'tool_result_batch'
          ? item.results.flatMap(({ content }) => content.map((block) => block.type))
          : [],
      );
    expect(kinds(compactedItems(shot('x '.repeat(500)), { keepRecentMessages: 0 }))).toEqual(['text', 'image']);
    expect(kinds(compactedItems(shot(BULK), { keepRecentMessages: 0 }))).toEqual(['text']);
  });

  test('errors, refusals and everything that did not end well stay whole', () => {
    const items = [
      user('go'),
      calls('r', 'a', 'b', 'c'),
      results(result('a', BULK, 'error'), result('b', BULK, 'unknown_outcome'), result('c', `{"error":"${BULK}"}`)),
    ];
    expect(microcompact(viewOf(sessionOf(items)), { keepRecentMessages: 0 })).toEqual({ edits: [], tokensFreed: 0 });
  });

  test('calls and call ids stay, the tokens freed are exact, and a second pass finds nothing', () => {
    fc.assert(
      fc.property(bulkyItems, fc.nat({ max: 12 }), fc.boolean(), (items, keepRecentMessages, compactThinking) => {
        const options = { keepRecentMessages, compactThinking };
        const view = viewOf(sessionOf(items));
        const { edits, tokensFreed } = microcompact(view, options);
        const next = buildView({ ...view.input, edits });
        expect(viewTokens(view) - viewTokens(next)).toBe(tokensFreed);
        const named = (list: readonly AgentItem[]) =>
          list.flatMap((item) => (item.kind === 'tool_call_batch' ? item.calls.map((one) => one.callId) : []));
        expect(named(next.items)).toEqual(named(view.items));
        expect(microcompact(next, options).edits).toEqual([]);
        if (!compactThinking) expect(edits.every((edit) => edit.callId !== undefined)).toBe(true);
      }),
      { numRuns },
    );
  });

  test('thinking goes only when asked for: unsigned text becomes a note, a signed block goes with its replay', () => {
    const signed = { scope: SCOPE, data: { signature: 'c2ln' } };
    const batch = calls('r1', { callId: 'c1', nativeId: 'c1', name: 'tool', arguments: {}, replay: signed });
    const items = [
      user('one'),
      reasoning('r0', 'I think about this for a while.'),
      assistant('r0', 'so'),
      user('two'),
      reasoning('r1', 'signed thought', signed),
      batch,
      results('c1'),
      user('three'),
      reasoning('r2', 'the open turn keeps its thoughts', signed),
      calls('r2', 'c2'),
      results('c2'),
    ];
    const kept = compactedItems(items, { keepRecentMessages: 0, compactThinking: true });
    expect(kept.filter((item) => item.kind === 'reasoning_summary').map((item) => item.text)).toEqual([
      '[pruned thinking]',
      'the open turn keeps its thoughts',
    ]);
    expect(JSON.stringify(kept.slice(0, 6))).not.toContain('signature');
    expect(compactedItems(items, { keepRecentMessages: 0 })).toEqual(items);
  });
});

describe('microcompactMessages', () => {
  const embedded: readonly Message[] = [
    { role: 'user', content: [{ type: 'text', text: 'go' }] },
    {
      role: 'assistant',
      content: [
        { type: 'tool_use', callId: 'c', nativeId: 'c', name: 't', input: { long: BULK } },
        { type: 'tool_result', callId: 'c', name: 't', status: 'ok', content: [{ type: 'text', text: BULK }] },
      ],
    },
    {
      role: 'tool',
      content: [{ type: 'tool_result', callId: 'd', name: 't', status: 'ok', content: [{ type: 'text', text: BULK }] }],
    },
    { role: 'user', content: [{ type: 'text', text: 'and?' }] },
  ];

  test('shortens results in tool messages and in assistant messages alike, calls never', () => {
    const { messages, tokensFreed } = microcompactMessages(embedded, { keepRecentMessages: 1 });
    const pruned = [{ type: 'text', text: PRUNED }];
    expect(messages[1]?.content[0]).toBe(embedded[1]?.content[0]);
    expect(messages[1]?.content[1]).toMatchObject({ callId: 'c', content: pruned });
    expect(messages[2]?.content[0]).toMatchObject({ callId: 'd', content: pruned });
    expect(tokensFreed).toBeGreaterThan(1000);
  });

  test('does nothing to a list that is all recent', () => {
    expect(microcompactMessages(embedded)).toEqual({ messages: embedded, tokensFreed: 0 });
  });
});
