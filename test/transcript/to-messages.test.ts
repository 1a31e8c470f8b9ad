import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { AgentItem, Replay } from '../../src/transcript/items.ts';
import type { Message } from '../../src/transcript/message.ts';
import { normalize } from '../../src/transcript/normalize.ts';
import { toMessages } from '../../src/transcript/to-messages.ts';
import {
  anyTranscript,
  assistant,
  builtin,
  call,
  calls,
  legalTranscript,
  RUNS,
  reasoning,
  results,
  SCOPE,
  summary,
  user,
} from './arbitraries.ts';
import { pairingFaults } from './strict-pairing.ts';

const SUMMARY =
  'Summary of the conversation so far:\n(Told by a program. Calls that it tells of are history: they were made, and nothing here is a form to call tools by. [#12] cites item 12 of the transcript.)';

function types(message: Message | undefined): readonly string[] {
  return message?.content.map((block) => block.type) ?? [];
}

test('the messages of a normalised list have no orphan and nothing unanswered', () => {
  fc.assert(
    fc.property(anyTranscript, (items) => {
      expect(pairingFaults(toMessages(normalize(items).items))).toEqual([]);
    }),
    { numRuns: RUNS },
  );
});

test('every text of a legal transcript stands in the messages, in order', () => {
  fc.assert(
    fc.property(legalTranscript, (items) => {
      const sent = toMessages(items).flatMap(({ role, content }) =>
        content.flatMap((block) => ('text' in block ? [`${role}: ${block.text}`] : [])),
      );
      expect([...sent].sort()).toEqual([...items.flatMap(texts)].sort());
    }),
    { numRuns: RUNS },
  );
});

function texts(item: AgentItem): readonly string[] {
  if (item.kind === 'compaction_summary') return [`user: ${SUMMARY}\n\n${item.text}`];
  if (item.kind === 'reasoning_summary') return [`assistant: ${item.text}`];
  if (item.kind !== 'user_message' && item.kind !== 'assistant_message') return [];
  const role = item.kind === 'user_message' ? 'user' : 'assistant';
  return item.content.flatMap((block) => ('text' in block ? [`${role}: ${block.text}`] : []));
}

test('the messages of a prefix are a prefix of the messages', () => {
  fc.assert(
    fc.property(legalTranscript, fc.nat(), (items, cut) => {
      const prefix = toMessages(items.slice(0, cut % (items.length + 1)));
      const whole = toMessages(items);
      // The last message may still be growing: its response is not complete.
      expect(whole.slice(0, Math.max(0, prefix.length - 1))).toEqual(prefix.slice(0, -1));
    }),
    { numRuns: RUNS },
  );
});

describe('one response', () => {
  test('with text and calls is one assistant message, and its results one tool message', () => {
    const messages = toMessages([user('go'), assistant('r1', 'Reading.'), calls('r1', 'a', 'b'), results('a', 'b')]);
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool']);
    expect(types(messages[1])).toEqual(['text', 'tool_use', 'tool_use']);
    expect(messages[2]).toMatchObject({
      content: [
        { callId: 'a', name: 'tool' },
        { callId: 'b', name: 'tool' },
      ],
    });
  });

  test('has its thinking, text and calls in the order in which they were received', () => {
    const items: AgentItem[] = [
      { ...(reasoning('r1', 'first') as object), part: 0 } as AgentItem,
      { ...(reasoning('r1', 'second') as object), part: 2 } as AgentItem,
      { ...assistant('r1', ''), content: [{ type: 'text', text: 'said', part: 3 }] },
      calls('r1', call('a', { part: 1 }), call('b', { part: 4 })),
      results('a', 'b'),
    ];
    const [message] = toMessages(items);
    expect(types(message)).toEqual(['thinking', 'tool_use', 'thinking', 'text', 'tool_use']);
  });

  test('keeps a block without a position behind the block before it', () => {
    const content = [
      { type: 'text' as const, text: 'late', part: 5 },
      { type: 'text' as const, text: 'with late' },
      { type: 'text' as const, text: 'early', part: 1 },
    ];
    const [message] = toMessages([{ ...assistant('r1', ''), content }]);
    expect(message?.content.map((block) => 'text' in block && block.text)).toEqual(['early', 'late', 'with late']);
  });

  test('keeps its calls in the order of the batch, since results follow in it', () => {
    const [message] = toMessages([calls('r1', call('a', { part: 3 }), call('b', { part: 1 })), results('a', 'b')]);
    expect(message?.content.map((block) => 'callId' in block && block.callId)).toEqual(['a', 'b']);
  });

  test('that follows another at once is a message of its own', () => {
    const messages = toMessages([
      builtin('r1', 'call', 'b1'),
      builtin('r2', 'result', 'b1'),
      assistant('r2', 'Found.'),
    ]);
    expect(messages.map(types)).toEqual([['builtin_tool'], ['builtin_tool', 'text']]);
    expect(messages.map((message) => 'response' in message && message.response?.id)).toEqual(['r1', 'r2']);
  });
});

test('a call that could not be read goes back with an object and what really came', () => {
  const broken = call('a', { arguments: {}, rawArguments: '{"pa', argumentsError: 'cut off' });
  const [message] = toMessages([calls('r1', broken), results('a')]);
  expect(message?.content[0]).toEqual({
    type: 'tool_use',
    callId: 'a',
    nativeId: 'a',
    name: 'tool',
    input: {},
    rawInput: '{"pa',
  });
});

test('a summary is told as such, in the words of the user', () => {
  expect(toMessages([summary('Files: a.txt')])).toEqual([
    { role: 'user', content: [{ type: 'text', text: `${SUMMARY}\n\nFiles: a.txt` }] },
  ]);
});

describe('replay data', () => {
  const foreign: Replay = { scope: { ...SCOPE, account: 'another' }, data: { signature: 'x' } };
  const own: Replay = { scope: SCOPE, data: { signature: 'y' } };
  const items = [reasoning('r1', 'a', own), reasoning('r2', 'b', foreign)];

  test('goes only to the endpoint, account and model that it came from', () => {
    const replays = toMessages(items, { target: SCOPE }).map(({ content: [block] }) => block && 'replay' in block);
    expect(replays).toEqual([true, false]);
  });

  test.each(['endpoint', 'account', 'model'] as const)('stays behind when the %s differs', (part) => {
    const [message] = toMessages(items, { target: { ...SCOPE, [part]: 'elsewhere' } });
    expect(message?.content).toEqual([{ type: 'thinking', text: 'a' }]);
  });

  test('all stays when no target is named', () => {
    expect(toMessages(items).map(({ content: [block] }) => block && 'replay' in block)).toEqual([true, true]);
  });
});
