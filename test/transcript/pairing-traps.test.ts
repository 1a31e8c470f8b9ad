import { expect, test } from 'vitest';
import type { AgentItem, ToolCall } from '../../src/transcript/items.ts';
import type { Message } from '../../src/transcript/message.ts';
import { normalize } from '../../src/transcript/normalize.ts';
import { settle } from '../../src/transcript/settle.ts';
import { toMessages } from '../../src/transcript/to-messages.ts';
import { validate } from '../../src/transcript/validate.ts';
import { WIRE_ID_RULES, type WireIdTarget, wireIdsOf } from '../../src/transcript/wire-ids.ts';
import { assistant, call, calls, result, results, summary, user } from './arbitraries.ts';
import { pairingFaults } from './strict-pairing.ts';

// Traps that real systems fell into, told without a wire format. The ids are those of test/cases, topic a.

function sent(items: readonly AgentItem[]): readonly Message[] {
  const messages = toMessages(normalize(items).items);
  expect(pairingFaults(messages)).toEqual([]);
  return messages;
}

/** `user text`, `assistant text calls`, `tool ids`: what stands where. */
function shape(messages: readonly Message[]): readonly string[] {
  return messages.map(({ role, content }) => {
    const blocks = content.map((block) =>
      'callId' in block ? block.callId : 'text' in block ? block.text : block.type,
    );
    return [role, ...blocks].join(' ');
  });
}

function answers(messages: readonly Message[]): readonly string[] {
  return messages.flatMap((message) =>
    message.role === 'tool'
      ? message.content.map(({ status, content }) => {
          const texts = content.map((block) => ('text' in block ? block.text : ''));
          return `${status}: ${texts.join('')}`;
        })
      : [],
  );
}

test('a-01: after an interrupted batch all calls have results before the next message', () => {
  const messages = sent([
    user('compare'),
    assistant('r1', 'Reading.'),
    calls('r1', 'a', 'b', 'c'),
    results(result('a', 'alpha')),
    user('never mind'),
  ]);
  expect(shape(messages)).toEqual(['user compare', 'assistant Reading. a b c', 'tool a b c', 'user never mind']);
  expect(answers(messages)[0]).toBe('ok: alpha');
  for (const answer of answers(messages).slice(1)) expect(answer).toMatch(/^unknown_outcome: No result/);
});

test('a-03: resuming twice adds one result, with or without a summary in front', () => {
  const stored = [user('start'), calls('r1', 'wait_job:79'), user('continue')];
  const once = normalize(stored).items;
  expect(normalize(once).items).toBe(once);
  expect(answers(sent([summary('earlier'), ...once]))).toHaveLength(1);
});

test('a-04: after a cancel, what ran and what did not are told apart, and nobody is said to have refused', () => {
  const batch = calls('r1', 'c1', 'c2');
  const settled = settle(batch, [], { c1: { status: 'cancelled' } });
  const [ran, waited] = answers(toMessages([batch, settled]));
  expect(ran).toMatch(/^cancelled: .*had started and was interrupted/);
  expect(waited).toMatch(/^aborted: .*never started/);
  expect(`${ran}${waited}`).not.toMatch(/reject|refus|denied|user/i);
});

test('a-05: results at the head whose calls were trimmed are gone, the rest keeps its order', () => {
  expect(shape(sent([results('old1', 'old2'), assistant('r1', 'Fine.'), user('Next?')]))).toEqual([
    'assistant Fine.',
    'user Next?',
  ]);
});

test('a-06: a batch answered in part at the end is answered whole', () => {
  expect(shape(sent([user('read'), calls('r1', 'c1', 'c2'), results('c1')]))).toEqual([
    'user read',
    'assistant c1 c2',
    'tool c1 c2',
  ]);
});

test('a-07: a message recorded while a tool ran comes after its result', () => {
  expect(shape(sent([user('build'), calls('r1', 'c'), user('and the time'), results('c')]))).toEqual([
    'user build',
    'assistant c',
    'tool c',
    'user and the time',
  ]);
});

test('a-09: of two results the first recorded one is sent', () => {
  const twice = [calls('r1', 'w'), results(result('w', 'busy', 'error')), results(result('w', 'written'))];
  expect(answers(sent(twice))).toEqual(['error: busy']);
});

test('a-10: one id on every turn pairs by occurrence', () => {
  const steps = [1, 2, 3, 4].flatMap((step) => [
    calls(`r${step}`, call('call_0', { arguments: { step } })),
    results(result('call_0', `r${step}`)),
  ]);
  const messages = sent([user('four steps'), ...steps]);
  expect(answers(messages)).toEqual(['ok: r1', 'ok: r2', 'ok: r3', 'ok: r4']);
  const ids = [...wireIdsOf(messages, WIRE_ID_RULES.anthropic).values()];
  expect(new Set(ids).size).toBe(4);
  expect(ids[0]).toBe('call_0');
  // The next request, one step longer, gives the same ids again.
  const longer = sent([user('four steps'), ...steps, calls('r5', 'call_0'), results('call_0')]);
  expect([...wireIdsOf(longer, WIRE_ID_RULES.anthropic).values()].slice(0, 4)).toEqual(ids);
});

const LONG: readonly ToolCall[] = ['a1b2', 'c3d4'].map((end) => {
  const id = `fc_${'00112233445566778899aabbccddeeff'.repeat(2)}${end}`;
  return call(id, { nativeId: id });
});

test.each<readonly [WireIdTarget, RegExp]>([
  ['openai-chat', /^.{1,40}$/],
  ['openai-responses', /^[\w-]{1,64}$/],
  ['anthropic', /^[\w-]{1,64}$/],
  ['mistral', /^[a-zA-Z0-9]{9}$/],
])(
  'a-15, a-17: ids that %s does not take are mapped, apart from each other and the stored ones untouched',
  (target, legal) => {
    const items = [user('both'), calls('r1', ...LONG), results(...LONG.map(({ callId }) => callId))];
    const ids = wireIdsOf(sent(items), WIRE_ID_RULES[target]);
    expect([...ids.keys()]).toEqual(LONG.map(({ callId }) => callId));
    for (const id of ids.values()) expect(id).toMatch(legal);
    expect(new Set(ids.values()).size).toBe(2);
    expect(normalize(items).items).toBe(items);
  },
);

test('a-18: text and calls of one answer are one message, results right behind', () => {
  const items = [user('cancel R1'), assistant('r1', 'Let me check.'), calls('r1', 'call_r'), results('call_r')];
  expect(shape(sent(items))).toEqual(['user cancel R1', 'assistant Let me check. call_r', 'tool call_r']);
});

test('a-18: the same when the text was recorded behind the calls', () => {
  const items = [user('cancel R1'), calls('r1', 'call_r'), assistant('r1', 'Let me check.'), results('call_r')];
  expect(shape(sent(items))).toEqual(['user cancel R1', 'assistant Let me check. call_r', 'tool call_r']);
});

test('a-19: unreadable arguments, a good call and one that ends the run: three results', () => {
  const broken = call('c1', { arguments: {}, rawArguments: '{"path": ', argumentsError: 'unexpected end' });
  const batch = calls('r1', broken, 'c2', 'c3');
  const settled = settle(batch, [result('c3', 'bye')], {});
  expect(settled.results.map(({ status }) => status)).toEqual(['error', 'aborted', 'ok']);
  expect(validate([batch, settled], { tail: 'closed' })).toEqual([]);
  expect(answers(toMessages([batch, settled]))[0]).toContain('arguments were not a JSON object (unexpected end)');
});
