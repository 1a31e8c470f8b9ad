import { expect, test } from 'vitest';
import { type Fragment, fragments, readChunks } from './read.ts';

type Expected = readonly (readonly [name: string, args: object, nativeId?: string])[];

const OSLO = '{"city":"Oslo"}';
const ROME = '{"city":"Rome"}';
const w = 'get_weather';

const ROWS: readonly (readonly [why: string, groups: readonly (readonly Fragment[])[], expected: Expected])[] = [
  [
    'OpenAI: index, id and name first, then arguments in pieces',
    [[{ index: 0, id: 'a', name: w, args: '' }], [{ index: 0, args: '{"city"' }], [{ index: 0, args: ':"Oslo"}' }]],
    [[w, { city: 'Oslo' }, 'a']],
  ],
  [
    'two calls whose fragments alternate, both in one chunk',
    [
      [{ index: 0, id: 'a', name: w, args: '' }],
      [{ index: 1, id: 'b', name: 'run_command', args: '' }],
      [
        { index: 0, args: '{"city":' },
        { index: 1, args: '{"command":' },
      ],
      [{ index: 1, args: '"ls"}' }],
      [{ index: 0, args: '"Oslo"}' }],
    ],
    [
      [w, { city: 'Oslo' }, 'a'],
      ['run_command', { command: 'ls' }, 'b'],
    ],
  ],
  [
    'no index, each call whole',
    [[{ id: 'a', name: w, args: OSLO }], [{ id: 'b', name: w, args: ROME }]],
    [
      [w, { city: 'Oslo' }, 'a'],
      [w, { city: 'Rome' }, 'b'],
    ],
  ],
  [
    'no index, both calls in one chunk',
    [
      [
        { id: 'a', name: w, args: OSLO },
        { id: 'b', name: w, args: ROME },
      ],
    ],
    [
      [w, { city: 'Oslo' }],
      [w, { city: 'Rome' }],
    ],
  ],
  [
    'no index, arguments in pieces, later ids empty',
    [[{ id: 'a', name: w, args: '{"ci' }], [{ id: '', args: 'ty":"Os' }], [{ args: 'lo"}' }]],
    [[w, { city: 'Oslo' }, 'a']],
  ],
  [
    'index null throughout',
    [[{ index: null, id: 'a', name: w, args: '{"ci' }], [{ index: null, args: 'ty":"Oslo"}' }]],
    [[w, { city: 'Oslo' }]],
  ],
  [
    'index always 0, ids differ',
    [[{ index: 0, id: 'a', name: w, args: OSLO }], [{ index: 0, id: 'b', name: w, args: ROME }]],
    [
      [w, { city: 'Oslo' }, 'a'],
      [w, { city: 'Rome' }, 'b'],
    ],
  ],
  [
    'index always 0, no ids, each call whole',
    [[{ index: 0, name: w, args: OSLO }], [{ index: 0, name: w, args: ROME }]],
    [
      [w, { city: 'Oslo' }],
      [w, { city: 'Rome' }],
    ],
  ],
  [
    'index always 0, no ids, other tool',
    [[{ index: 0, name: w, args: OSLO }], [{ index: 0, name: 'get_time', args: '' }]],
    [
      [w, { city: 'Oslo' }],
      ['get_time', {}],
    ],
  ],
  [
    'index always 0, no ids, first call without arguments',
    [[{ index: 0, name: 'get_time', args: '' }], [{ index: 0, name: w, args: OSLO }]],
    [
      ['get_time', {}],
      [w, { city: 'Oslo' }],
    ],
  ],
  [
    'index always 0 and one constant id',
    [[{ index: 0, id: 'call_0', name: w, args: OSLO }], [{ index: 0, id: 'call_0', name: w, args: ROME }]],
    [
      [w, { city: 'Oslo' }],
      [w, { city: 'Rome' }],
    ],
  ],
  [
    'one id for two indexes',
    [[{ index: 0, id: 'x', name: w, args: OSLO }], [{ index: 1, id: 'x', name: w, args: ROME }]],
    [
      [w, { city: 'Oslo' }, 'x'],
      [w, { city: 'Rome' }, 'x'],
    ],
  ],
  [
    'the first index is 1',
    [[{ index: 1, id: 'a', name: w, args: '' }], [{ index: 1, args: OSLO }]],
    [[w, { city: 'Oslo' }, 'a']],
  ],
  [
    'one index twice in one chunk',
    [
      [
        { index: 0, id: 'a', name: w, args: '{"city"' },
        { index: 0, args: ':"Oslo"}' },
      ],
    ],
    [[w, { city: 'Oslo' }]],
  ],
  [
    'id and name in every fragment',
    [
      [{ index: 0, id: 'a', name: w, args: '{"ci' }],
      [{ index: 0, id: 'a', name: w, args: 'ty":"Os' }],
      [{ index: 0, id: 'a', name: w, args: 'lo"}' }],
    ],
    [[w, { city: 'Oslo' }, 'a']],
  ],
  [
    'name without id in every fragment',
    [[{ index: 0, name: w, args: '{"ci' }], [{ index: 0, name: w, args: 'ty":"Oslo"}' }]],
    [[w, { city: 'Oslo' }]],
  ],
  [
    'a new id in every fragment',
    [[{ index: 0, id: 'a1', name: w, args: '{"ci' }], [{ index: 0, id: 'a2', args: 'ty":"Oslo"}' }]],
    [[w, { city: 'Oslo' }, 'a1']],
  ],
  [
    'the name in pieces',
    [
      [{ index: 0, id: 'a', name: 'get_', args: '' }],
      [{ index: 0, name: 'weather', args: '' }],
      [{ index: 0, args: OSLO }],
    ],
    [[w, { city: 'Oslo' }, 'a']],
  ],
  [
    'the name growing',
    [[{ index: 0, id: 'a', name: 'get_', args: '' }], [{ index: 0, name: w, args: OSLO }]],
    [[w, { city: 'Oslo' }, 'a']],
  ],
  [
    'the id only in a later fragment',
    [[{ index: 0, name: w, args: '{"city":' }], [{ index: 0, id: 'late', args: '"Oslo"}' }]],
    [[w, { city: 'Oslo' }, 'late']],
  ],
  [
    'the whole call again at the end',
    [
      [{ index: 0, id: 'a', name: w, args: '{"city":' }],
      [{ index: 0, args: '"Oslo"}' }],
      [{ index: 0, id: 'a', name: w, args: OSLO }],
    ],
    [[w, { city: 'Oslo' }, 'a']],
  ],
  [
    'arguments sent anew and longer each time',
    [
      [{ index: 0, id: 'a', name: w, args: '{"ci' }],
      [{ index: 0, args: '{"city":"Os' }],
      [{ index: 0, args: OSLO }],
      [{ index: 0, args: OSLO }],
    ],
    [[w, { city: 'Oslo' }, 'a']],
  ],
  [
    'arguments as an object, and as null',
    [
      [
        { index: 0, id: 'a', name: w, args: { city: 'Oslo' } },
        { index: 1, id: 'b', name: 'get_time', args: null },
      ],
    ],
    [
      [w, { city: 'Oslo' }],
      ['get_time', {}],
    ],
  ],
  [
    'parallel calls merged into one',
    [[{ index: 0, id: 'a', name: w, args: `${OSLO}${ROME}` }]],
    [
      [w, { city: 'Oslo' }, 'a'],
      [w, { city: 'Rome' }, ''],
    ],
  ],
  [
    'a functions. prefix',
    [[{ index: 0, id: 'a', name: 'functions.get_weather', args: OSLO }]],
    [[w, { city: 'Oslo' }]],
  ],
  [
    'a Kimi name',
    [[{ index: 0, id: 'functions.get_weather:0', name: 'functions.get_weather:0', args: OSLO }]],
    [[w, { city: 'Oslo' }]],
  ],
  ['a stray tail', [[{ index: 0, id: 'a', name: 'get_weather" />', args: OSLO }]], [[w, { city: 'Oslo' }]]],
  [
    'a channel tail',
    [[{ index: 0, id: 'a', name: 'get_weather<|channel|>commentary', args: OSLO }]],
    [[w, { city: 'Oslo' }]],
  ],
  [
    'white space around the name',
    [[{ index: 0, id: 'a', name: ' get_weather ', args: OSLO }]],
    [[w, { city: 'Oslo' }]],
  ],
  [
    'a name that is nearly one stays unknown',
    [[{ index: 0, id: 'a', name: 'get_wether', args: OSLO }]],
    [['get_wether', { city: 'Oslo' }]],
  ],
];

test.each(ROWS)('%s', (_, groups, expected) => {
  const { calls, stopReason } = readChunks(fragments(...groups));
  expect(calls.map((c) => [c.name, c.arguments])).toEqual(expected.map(([name, args]) => [name, args]));
  expect(calls.every((c) => c.argumentsError === undefined)).toBe(true);
  expected.forEach(([, , id], i) => {
    if (id !== undefined) expect(calls[i]?.nativeId).toBe(id);
  });
  expect(stopReason.unified).toBe('tool_calls');
});

test.each(ROWS)('no reader is ever told half a name: %s', (_, groups, expected) => {
  const { events } = readChunks(fragments(...groups));
  const names = events.flatMap((e) => (e.type === 'tool_call_delta' && e.name !== undefined ? [e.name] : []));
  expect(names.every((name) => expected.some(([known]) => known === name))).toBe(true);
});

test('the old function_call is a call', () => {
  const { calls } = readChunks([
    { choices: [{ index: 0, delta: { function_call: { name: w, arguments: '{"city":' } } }] },
    { choices: [{ index: 0, delta: { function_call: { arguments: '"Oslo"}' } }, finish_reason: 'function_call' }] },
  ]);
  expect(calls).toMatchObject([{ name: w, arguments: { city: 'Oslo' } }]);
});

test('text, thinking and calls keep apart, and empty fields are nothing', () => {
  const { text, reasoning, calls } = readChunks([
    { choices: [{ index: 0, delta: { role: 'assistant', content: '', reasoning_content: null, tool_calls: null } }] },
    { choices: [{ index: 0, delta: { reasoning_content: 'hm' } }] },
    { choices: [{ index: 0, delta: { content: 'Checking.', tool_calls: [] } }] },
    ...fragments([{ index: 0, id: 'a', name: w, args: OSLO }]),
  ]);
  expect([text, reasoning, calls.length]).toEqual(['Checking.', 'hm', 1]);
});

test('calls that only the last chunk holds, as a whole message, are calls', () => {
  const last = {
    choices: [
      {
        index: 0,
        finish_reason: 'tool_calls',
        message: { content: 'Hi', tool_calls: [{ id: 'a', function: { name: w, arguments: OSLO } }] },
      },
    ],
  };
  const { text, calls } = readChunks([{ choices: [{ index: 0, delta: { content: 'Hi' } }] }, last]);
  expect([text, calls.length]).toEqual(['Hi', 1]);
});

test('a single call that stands where a list should is a call', () => {
  const { calls } = readChunks([
    {
      choices: [
        { index: 0, delta: { tool_calls: { id: 'a', function: { name: w, arguments: OSLO } } }, finish_reason: 'stop' },
      ],
    },
  ]);
  expect(calls).toHaveLength(1);
});

test('a signature that Gemini attaches to a call is replay data of that call', () => {
  const extra = { google: { thought_signature: 'sig' } };
  const { calls } = readChunks([
    {
      choices: [
        {
          index: 0,
          delta: { tool_calls: [{ extra_content: extra, id: 'a', function: { name: w, arguments: OSLO } }] },
          finish_reason: 'stop',
        },
      ],
    },
  ]);
  expect(calls[0]?.replay?.data).toEqual({ extra_content: extra });
});

test('text that Gemini marks as thinking is thinking', () => {
  const thought = { content: '<thought>Hm, Oslo.</thought>', extra_content: { google: { thought: true } } };
  const { text, reasoning, items } = readChunks([
    { choices: [{ index: 0, delta: thought }] },
    { choices: [{ index: 0, delta: { content: '3 C' }, finish_reason: 'stop' }] },
  ]);
  expect([text, reasoning, items.length]).toEqual(['3 C', 'Hm, Oslo.', 2]);
});
