import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Message } from '../../src/transcript/message.ts';
import { WIRE_ID_RULES, type WireIdTarget, wireId, wireIdsOf } from '../../src/transcript/wire-ids.ts';
import { RUNS } from './arbitraries.ts';

const TARGETS = Object.keys(WIRE_ID_RULES) as WireIdTarget[];
const NONE: ReadonlySet<string> = new Set();
const LONG = `fc_${'0123456789abcdef'.repeat(5)}`;

/** What a server checks, written down apart from the rules. */
const ACCEPTED: Readonly<Record<WireIdTarget, (id: string) => boolean>> = {
  'openai-chat': (id) => id.length > 0 && id.length <= 40 && !/\s/.test(id),
  'openai-responses': (id) => id.length <= 64 && /^[A-Za-z0-9_-]+$/.test(id),
  anthropic: (id) => id.length <= 64 && /^[A-Za-z0-9_-]+$/.test(id),
  mistral: (id) => id.length === 9 && /^[A-Za-z0-9]+$/.test(id),
};

function request(ids: readonly { readonly nativeId: string; readonly wireId?: string }[]): readonly Message[] {
  return ids.map((id, index) => ({
    role: 'assistant',
    content: [{ type: 'tool_use', callId: `call-${index}`, name: 'tool', input: {}, ...id }],
  }));
}

const CASES: readonly {
  readonly target: WireIdTarget;
  readonly native: string;
  readonly kept: boolean;
  readonly why: string;
}[] = [
  { target: 'openai-chat', native: 'call_a', kept: true, why: 'legal' },
  { target: 'openai-chat', native: 'wait_job:79', kept: true, why: 'no alphabet is documented' },
  { target: 'openai-chat', native: 'x'.repeat(40), kept: true, why: 'at the limit' },
  { target: 'openai-chat', native: 'x'.repeat(41), kept: false, why: 'one over the limit' },
  { target: 'openai-chat', native: '', kept: false, why: 'empty is missing' },
  { target: 'openai-chat', native: 'a b', kept: false, why: 'white space' },
  { target: 'openai-responses', native: 'x'.repeat(64), kept: true, why: 'at the limit' },
  { target: 'openai-responses', native: LONG, kept: false, why: '83 characters' },
  { target: 'openai-responses', native: 'wait_job:79', kept: false, why: 'colon' },
  { target: 'anthropic', native: 'toolu_01', kept: true, why: 'legal' },
  { target: 'anthropic', native: 'list_dir:0', kept: false, why: 'colon' },
  { target: 'anthropic', native: 'call.1', kept: false, why: 'dot' },
  { target: 'mistral', native: 'D681PevKs', kept: true, why: 'nine letters and digits' },
  { target: 'mistral', native: 'call_1700', kept: false, why: 'nine characters, one an underscore' },
  { target: 'mistral', native: 'D681PevK', kept: false, why: 'eight' },
];

test.each(CASES)('$target keeps $native: $kept ($why)', ({ target, native, kept }) => {
  const id = wireId(native, 'our-id', WIRE_ID_RULES[target], NONE);
  expect(id === native).toBe(kept);
  expect(ACCEPTED[target](id)).toBe(true);
});

describe.each(TARGETS)('%s', (target) => {
  const rule = WIRE_ID_RULES[target];
  const natives = fc.array(
    fc.record(
      {
        nativeId: fc.oneof(fc.constantFrom('call_0', '', LONG, `${LONG}1`, 'abcdefgh1'), fc.string({ unit: 'binary' })),
        wireId: fc.constantFrom('call_0', 'fixed', 'abcdefgh2', LONG),
      },
      { requiredKeys: ['nativeId'] },
    ),
    { maxLength: 12 },
  );

  test('every id is legal, and no two calls share one', () => {
    fc.assert(
      fc.property(natives, (ids) => {
        const sent = [...wireIdsOf(request(ids), rule).values()];
        expect(sent.filter((id) => !ACCEPTED[target](id))).toEqual([]);
        expect(new Set(sent).size).toBe(ids.length);
      }),
      { numRuns: RUNS },
    );
  });

  test('a longer conversation keeps the ids of a shorter one', () => {
    fc.assert(
      fc.property(natives, fc.nat({ max: 12 }), (ids, cut) => {
        const whole = [...wireIdsOf(request(ids), rule)];
        const prefix = [...wireIdsOf(request(ids.slice(0, cut)), rule)];
        expect(whole.slice(0, prefix.length)).toEqual(prefix);
      }),
      { numRuns: RUNS },
    );
  });

  test('the id fixed at append wins over the native one', () => {
    const fixed = 'abcdefgh2';
    expect(wireIdsOf(request([{ nativeId: 'abcdefgh1', wireId: fixed }]), rule).get('call-0')).toBe(fixed);
  });

  test('an id already in use is never given, hash or not', () => {
    const first = wireId('', 'our-id', rule, NONE);
    const second = wireId('', 'our-id', rule, new Set([first]));
    const third = wireId(second, 'our-id', rule, new Set([first, second]));
    expect(new Set([first, second, third]).size).toBe(3);
  });

  test('20,000 ids from consecutive call ids are all different', () => {
    const made = new Set(Array.from({ length: 20_000 }, (_, index) => wireId('', `call-${index}`, rule, NONE)));
    expect(made.size).toBe(20_000);
  });
});

// Pins. Open sessions replay these ids: another hash would change bytes that a provider has cached, and break pairs.
test('made ids are what they were in earlier releases', () => {
  const made = TARGETS.map((target) => wireId('', '00000000-0000-4000-8000-000000000001', WIRE_ID_RULES[target], NONE));
  expect(made).toEqual([
    'call_0aT7kovylXFpYiFlfLVsTG8G',
    'call_0aT7kovylXFpYiFlfLVsTG8G',
    'toolu_0aT7kovylXFpYiFlfLVsTG8G',
    '0aT7kovyl',
  ]);
});
