import { expect, test } from 'vitest';
import type { AgentItem, Replay, ToolCall } from '../../src/transcript/items.ts';
import { type ValidateOptions, type Violation, type ViolationCode, validate } from '../../src/transcript/validate.ts';
import { assistant, builtin, call, calls, reasoning, result, results, SCOPE, summary, user } from './arbitraries.ts';

const unscoped = { data: {} } as unknown as Replay;
const broken = call('a', { arguments: {}, rawArguments: '{', argumentsError: 'cut off' });

interface Case {
  readonly why: string;
  readonly items: readonly AgentItem[];
  readonly options?: Partial<ValidateOptions>;
  /** Index and call id of each violation of the code in question; nothing else may be reported. */
  readonly found: readonly (readonly [index: number, callId?: string])[];
}

/** A `Record`, so that a new code does not compile until there is a case for it. */
const CASES: Readonly<Record<ViolationCode, readonly Case[]>> = {
  result_missing: [
    {
      why: 'the run was cut',
      items: [calls('r1', 'a', 'b')],
      found: [
        [0, 'a'],
        [0, 'b'],
      ],
    },
    { why: 'a person spoke first', items: [calls('r1', 'a'), user('hi')], found: [[0, 'a']] },
    { why: 'one of two', items: [calls('r1', 'a', 'b'), results('b')], found: [[0, 'a']] },
    {
      why: 'only the last batch of a running run may wait',
      items: [calls('r1', 'a'), user('hi')],
      options: { tail: 'open' },
      found: [[0, 'a']],
    },
    {
      why: 'an open batch has all its results or none',
      items: [calls('r1', 'a', 'b'), results('a')],
      options: { tail: 'open' },
      found: [[0, 'b']],
    },
  ],
  result_order: [
    { why: 'swapped', items: [calls('r1', 'a', 'b'), results('b', 'a')], found: [[1, 'a']] },
    {
      why: 'rotated',
      items: [calls('r1', 'a', 'b', 'c'), results('c', 'a', 'b')],
      found: [
        [1, 'a'],
        [1, 'b'],
      ],
    },
  ],
  result_duplicate: [
    { why: 'twice in one batch', items: [calls('r1', 'a'), results('a', 'a')], found: [[1, 'a']] },
    { why: 'not at once', items: [calls('r1', 'a', 'b'), results('a', 'b', 'a')], found: [[1, 'a']] },
  ],
  response_after_batch: [
    { why: 'text behind calls', items: [calls('r1', 'a'), assistant('r1', 'x')], found: [[1]] },
    { why: 'two batches', items: [calls('r1', 'a'), calls('r1', 'b'), results('b')], found: [[1]] },
  ],
  result_orphan: [
    { why: 'the calls were trimmed', items: [results('a'), user('x')], found: [[0, 'a']] },
    { why: 'a stranger in the batch', items: [calls('r1', 'a'), results('a', 'x')], found: [[1, 'x']] },
    { why: 'a second batch', items: [calls('r1', 'a'), results('a'), results('a')], found: [[2, 'a']] },
    { why: 'before its call', items: [results('a'), calls('r1', 'a'), results('a')], found: [[0, 'a']] },
  ],
  builtin_result_orphan: [
    { why: 'no call', items: [builtin('r1', 'result', 'b1')], found: [[0]] },
    {
      why: 'a response in between did not hold it',
      items: [builtin('r1', 'call', 'b1'), user('x'), assistant('r2', 'y'), user('z'), builtin('r3', 'result', 'b1')],
      found: [[4]],
    },
    {
      why: 'answered already',
      items: [builtin('r1', 'call', 'b1'), builtin('r1', 'result', 'b1'), builtin('r1', 'result', 'b1')],
      found: [[2]],
    },
  ],
  builtin_call_repeated: [
    {
      why: 'recorded twice',
      items: [builtin('r1', 'call', 'b1'), builtin('r1', 'call', 'b1'), builtin('r1', 'result', 'b1')],
      found: [[1]],
    },
    {
      why: 'much later',
      items: [builtin('r1', 'call', 'b1'), user('x'), builtin('r2', 'call', 'b1')],
      found: [[2]],
    },
  ],
  call_id_duplicate: [
    {
      why: 'the server repeats itself',
      items: [calls('r1', 'a'), results('a'), calls('r2', 'a'), results('a')],
      found: [[2, 'a']],
    },
    { why: 'in one batch', items: [calls('r1', 'a', 'a'), results('a')], found: [[0, 'a']] },
  ],
  call_id_empty: [{ why: 'missing', items: [calls('r1', ''), results('')], found: [[0, '']] }],
  seq_not_increasing: [
    { why: 'equal', items: [user('a'), user('b')], options: { seqs: [3, 3] }, found: [[1]] },
    { why: 'falling', items: [user('a'), user('b'), user('c')], options: { seqs: [1, 5, 4] }, found: [[2]] },
    { why: 'missing', items: [user('a'), user('b')], options: { seqs: [1] }, found: [[1]] },
    { why: 'below the first', items: [user('a')], options: { seqs: [0] }, found: [[0]] },
  ],
  stray_in_group: [
    {
      why: 'a message before the builtin result',
      items: [builtin('r1', 'call', 'b1'), user('x'), builtin('r2', 'result', 'b1')],
      found: [[1]],
    },
    {
      why: 'a summary and a message, results of ours in between',
      items: [
        builtin('r1', 'call', 'b1'),
        calls('r1', 'a'),
        results('a'),
        summary('s'),
        user('x'),
        builtin('r2', 'result', 'b1'),
      ],
      found: [[3], [4]],
    },
  ],
  replay_unscoped: [
    { why: 'thinking', items: [reasoning('r1', 'x', unscoped)], found: [[0]] },
    { why: 'a call', items: [calls('r1', call('a', { replay: unscoped })), results('a')], found: [[0]] },
    {
      why: 'a text block',
      items: [{ ...assistant('r1', ''), content: [{ type: 'text', text: 'x', replay: unscoped }] }],
      found: [[0]],
    },
    { why: 'a builtin call', items: [{ ...builtin('r1', 'call', 'b1'), replay: unscoped }], found: [[0]] },
  ],
  replay_out_of_scope: (['endpoint', 'account', 'model'] as const).map((part) => ({
    why: `another ${part}`,
    items: [reasoning('r1', 'x', { scope: SCOPE, data: {} })],
    options: { target: { ...SCOPE, [part]: 'other' } },
    found: [[0]],
  })),
  arguments_not_object: [[], null, 'x', 1].map((value) => ({
    why: JSON.stringify(value),
    items: [calls('r1', call('a', { arguments: value as unknown as ToolCall['arguments'] })), results('a')],
    found: [[0, 'a']],
  })),
  unparsable_call_executed: (['ok', 'timed_out', 'cancelled', 'unknown_outcome'] as const).map((status) => ({
    why: `it is ${status}`,
    items: [calls('r1', broken), results(result('a', 'x', status))],
    found: [[1, 'a']],
  })),
  item_empty: [
    { why: 'no text', items: [assistant('r1', '')], found: [[0]] },
    { why: 'no block', items: [{ ...assistant('r1', ''), content: [] }], found: [[0]] },
    { why: 'no call', items: [calls('r1')], found: [[0]] },
    { why: 'no result and no call', items: [results()], found: [[0]] },
    { why: 'no thought', items: [reasoning('r1', '')], found: [[0]] },
  ],
};

const rows = Object.entries(CASES).flatMap(([code, cases]) => cases.map((one) => ({ code, ...one })));

test.each(rows)('$code: $why', ({ code, items, options, found }) => {
  const violations = validate(items, { tail: 'closed', ...options });
  // A list may be wrong in more than one way at once; then the case speaks of the code it is filed under.
  const places = violations.filter((violation) => violation.code === code).map(place);
  expect(places).toEqual(found);
});

function place({ index, callId }: Violation): readonly (number | string)[] {
  return callId === undefined ? [index] : [index, callId];
}

const VALID: readonly {
  readonly why: string;
  readonly items: readonly AgentItem[];
  readonly options?: ValidateOptions;
}[] = [
  { why: 'nothing', items: [] },
  { why: 'a batch that still runs', items: [user('x'), calls('r1', 'a')], options: { tail: 'open' } },
  { why: 'a call that could not be read, answered', items: [calls('r1', broken), results(result('a', 'x', 'error'))] },
  { why: 'the same, stopped before', items: [calls('r1', broken), results(result('a', 'x', 'aborted'))] },
  { why: 'the same, refused', items: [calls('r1', broken), results(result('a', 'x', 'denied'))] },
  {
    why: 'a builtin result in the next response, our results in between',
    items: [builtin('r1', 'call', 'b1'), calls('r1', 'a'), results('a'), builtin('r2', 'result', 'b1')],
  },
  {
    why: 'a builtin call that never gets a result',
    items: [builtin('r1', 'call', 'b1'), user('x'), assistant('r2', 'y')],
  },
  {
    why: 'builtin calls without ids',
    items: [builtin('r1', 'call', ''), user('x'), builtin('r2', 'call', ''), builtin('r2', 'result', '')],
  },
  {
    why: 'a pause, continued twice',
    items: [
      builtin('r1', 'call', 'b1'),
      assistant('r2', 'x'),
      builtin('r2', 'call', 'b2'),
      builtin('r3', 'result', 'b1'),
    ],
  },
  {
    why: 'a response id used again',
    items: [calls('r1', 'a'), results('a'), calls('r1', 'b'), results('b'), assistant('r1', 'x')],
  },
  { why: 'an empty text that must be replayed', items: [reasoning('r1', '', { scope: SCOPE, data: {} })] },
  {
    why: 'replay data in its scope',
    items: [reasoning('r1', 'x', { scope: SCOPE, data: {} })],
    options: { tail: 'closed', target: SCOPE },
  },
  { why: 'an empty message of a person', items: [{ ...user(''), content: [] }] },
  { why: 'gaps in seq', items: [user('a'), user('b')], options: { tail: 'closed', seqs: [4, 9] } },
];

test.each(VALID)('valid: $why', ({ items, options }) => {
  expect(validate(items, options ?? { tail: 'closed' })).toEqual([]);
});

test('violations come in the order of their items and speak to people', () => {
  const items = [builtin('r0', 'result', 'b'), calls('r1', 'a'), results('x'), calls('r2', 'a')];
  const violations = validate(items, { tail: 'closed' });
  expect(violations.map(({ index }) => index)).toEqual([0, 1, 2, 3, 3]);
  expect(violations.map(({ message }) => message)).toContain('call a has no result');
});
