import { expect, test } from 'vitest';
import type { AgentItem, Replay, ToolCall } from '../../src/transcript/items.ts';
import { normalize } from '../../src/transcript/normalize.ts';
import type { Repair, RepairCode } from '../../src/transcript/repair.ts';
import { syntheticResult, unparsableResult } from '../../src/transcript/synthetic-result.ts';
import { assistant, builtin, call, calls, reasoning, result, results, SCOPE, user } from './arbitraries.ts';

const unscoped = { data: {} } as unknown as Replay;
const broken = call('a', { arguments: {}, rawArguments: '{', argumentsError: 'cut off' });
const unknown = (callId: string): ReturnType<typeof result> => syntheticResult(callId, 'unknown_outcome');

interface Case {
  readonly why: string;
  readonly input: readonly AgentItem[];
  readonly repairs: readonly Repair[];
  readonly output: readonly AgentItem[];
}

/** A `Record`, so that a new repair does not compile until there is a case for it. */
const CASES: Readonly<Record<RepairCode, readonly Case[]>> = {
  result_added: [
    {
      why: 'nobody knows whether an unanswered call ran',
      input: [calls('r1', 'a', 'b'), results('a'), user('x')],
      repairs: [{ code: 'result_added', index: 0, call: 1, result: unknown('b') }],
      output: [calls('r1', 'a', 'b'), results(result('a'), unknown('b')), user('x')],
    },
    {
      why: 'a call that could not be read did not run',
      input: [calls('r1', broken)],
      repairs: [{ code: 'result_added', index: 0, call: 0, result: unparsableResult(broken, 'cut off') }],
      output: [calls('r1', broken), results(unparsableResult(broken, 'cut off'))],
    },
    {
      why: 'a call that was cut off does not take the result of a later one with its id',
      input: [calls('r1', 'a'), user('x'), calls('r2', 'a'), results('a')],
      repairs: [
        { code: 'result_added', index: 0, call: 0, result: unknown('a') },
        { code: 'call_id_changed', index: 2, call: 0, from: 'a', to: 'a~2' },
      ],
      output: [calls('r1', 'a'), results(unknown('a')), user('x'), renamed('r2', 'a~2'), results(renamedResult('a~2'))],
    },
  ],
  result_moved: [
    {
      why: 'a message was recorded while the tool ran',
      input: [calls('r1', 'a'), user('x'), results('a')],
      repairs: [{ code: 'result_moved', index: 2, result: 0, batch: 0, call: 0 }],
      output: [calls('r1', 'a'), results('a'), user('x')],
    },
    {
      why: 'results in another order',
      input: [calls('r1', 'a', 'b'), results('b', 'a')],
      repairs: [
        { code: 'result_moved', index: 1, result: 1, batch: 0, call: 0 },
        { code: 'result_moved', index: 1, result: 0, batch: 0, call: 1 },
      ],
      output: [calls('r1', 'a', 'b'), results('a', 'b')],
    },
    {
      why: 'results of one batch in two records',
      input: [calls('r1', 'a', 'b'), results('a'), results('b')],
      repairs: [{ code: 'result_moved', index: 2, result: 0, batch: 0, call: 1 }],
      output: [calls('r1', 'a', 'b'), results('a', 'b')],
    },
    {
      why: 'a late result goes to its call, over other answers',
      input: [calls('r1', 'a'), calls('r2', 'b'), results('b'), assistant('r3', 'x'), results('a')],
      repairs: [{ code: 'result_moved', index: 4, result: 0, batch: 0, call: 0 }],
      output: [calls('r1', 'a'), results('a'), calls('r2', 'b'), results('b'), assistant('r3', 'x')],
    },
  ],
  result_removed: [
    {
      why: 'the calls were trimmed',
      input: [results('x', 'y'), assistant('r1', 'fine')],
      repairs: [
        { code: 'result_removed', index: 0, result: 0, callId: 'x', reason: 'orphan' },
        { code: 'result_removed', index: 0, result: 1, callId: 'y', reason: 'orphan' },
      ],
      output: [assistant('r1', 'fine')],
    },
    {
      why: 'the first recorded result is the one kept',
      input: [calls('r1', 'a'), results(result('a', 'busy', 'error')), results(result('a', 'written'))],
      repairs: [{ code: 'result_removed', index: 2, result: 0, callId: 'a', reason: 'duplicate' }],
      output: [calls('r1', 'a'), results(result('a', 'busy', 'error'))],
    },
    {
      why: 'a second result is not given to an earlier call under that id',
      input: [calls('r1', 'a'), user('x'), calls('r2', 'a'), results(result('a', '1')), results(result('a', '2'))],
      repairs: [
        { code: 'result_added', index: 0, call: 0, result: unknown('a') },
        { code: 'call_id_changed', index: 2, call: 0, from: 'a', to: 'a~2' },
        { code: 'result_removed', index: 4, result: 0, callId: 'a', reason: 'duplicate' },
      ],
      output: [calls('r1', 'a'), results(unknown('a')), user('x'), renamed('r2', 'a~2'), results(result('a~2', '1'))],
    },
    {
      why: 'a stranger before the others does not move them',
      input: [calls('r1', 'a', 'b'), results('x', 'a', 'b')],
      repairs: [{ code: 'result_removed', index: 1, result: 0, callId: 'x', reason: 'orphan' }],
      output: [calls('r1', 'a', 'b'), results('a', 'b')],
    },
  ],
  call_id_changed: [
    {
      why: 'the server gives one id to all',
      input: [calls('r1', 'a', 'a'), results(result('a', '1'), result('a', '2'))],
      repairs: [{ code: 'call_id_changed', index: 0, call: 1, from: 'a', to: 'a~2' }],
      output: [calls('r1', call('a'), { ...call('a'), callId: 'a~2' }), results(result('a', '1'), result('a~2', '2'))],
    },
    {
      why: 'no id at all',
      input: [calls('r1', ''), results('')],
      repairs: [{ code: 'call_id_changed', index: 0, call: 0, from: '', to: 'call~2' }],
      output: [calls('r1', { ...call(''), callId: 'call~2' }), results({ ...result(''), callId: 'call~2' })],
    },
    {
      why: 'a made id is passed over when it is taken',
      input: [calls('r1', 'a~2', 'a', 'a'), results('a~2', 'a', result('a', 'third'))],
      repairs: [{ code: 'call_id_changed', index: 0, call: 2, from: 'a', to: 'a~3' }],
      output: [calls('r1', 'a~2', 'a', { ...call('a'), callId: 'a~3' }), results('a~2', 'a', result('a~3', 'third'))],
    },
  ],
  item_removed: [
    {
      why: 'nothing was said',
      input: [assistant('r1', ''), reasoning('r2', ''), calls('r3'), user('x'), results()],
      repairs: [
        { code: 'item_removed', index: 0, kind: 'assistant_message', reason: 'empty' },
        { code: 'item_removed', index: 1, kind: 'reasoning_summary', reason: 'empty' },
        { code: 'item_removed', index: 2, kind: 'tool_call_batch', reason: 'empty' },
        { code: 'item_removed', index: 4, kind: 'tool_result_batch', reason: 'empty' },
      ],
      output: [user('x')],
    },
    {
      why: 'a builtin call was recorded twice',
      input: [builtin('r1', 'call', 'b1'), user('x'), builtin('r2', 'call', 'b1'), builtin('r2', 'result', 'b1')],
      repairs: [
        { code: 'item_moved', index: 1, after: 3 },
        { code: 'item_removed', index: 2, kind: 'builtin_tool_event', reason: 'duplicate' },
      ],
      output: [builtin('r1', 'call', 'b1'), builtin('r2', 'result', 'b1'), user('x')],
    },
    {
      why: 'a builtin result without its call',
      input: [builtin('r1', 'result', 'b1'), assistant('r1', 'x')],
      repairs: [{ code: 'item_removed', index: 0, kind: 'builtin_tool_event', reason: 'orphan' }],
      output: [assistant('r1', 'x')],
    },
  ],
  item_moved: [
    {
      why: 'text of the response stood behind its calls',
      input: [calls('r1', 'a'), assistant('r1', 'x'), results('a'), user('y')],
      repairs: [{ code: 'item_moved', index: 0, after: 1 }],
      output: [assistant('r1', 'x'), calls('r1', 'a'), results('a'), user('y')],
    },
    {
      why: 'a message waits until the builtin result is there',
      input: [
        builtin('r1', 'call', 'b'),
        user('x'),
        user('y'),
        builtin('r2', 'result', 'b'),
        assistant('r2', 'z'),
        user('w'),
      ],
      repairs: [
        { code: 'item_moved', index: 1, after: 4 },
        { code: 'item_moved', index: 2, after: 4 },
      ],
      output: [
        builtin('r1', 'call', 'b'),
        builtin('r2', 'result', 'b'),
        assistant('r2', 'z'),
        user('x'),
        user('y'),
        user('w'),
      ],
    },
    {
      why: 'and until our calls of that response are answered',
      input: [
        builtin('r1', 'call', 'b'),
        user('x'),
        builtin('r2', 'result', 'b'),
        calls('r2', 'a'),
        results('a'),
        user('y'),
      ],
      repairs: [{ code: 'item_moved', index: 1, after: 3 }],
      output: [
        builtin('r1', 'call', 'b'),
        builtin('r2', 'result', 'b'),
        calls('r2', 'a'),
        results('a'),
        user('x'),
        user('y'),
      ],
    },
  ],
  batch_joined: [
    {
      why: 'a response has one batch',
      input: [calls('r1', 'a'), assistant('r1', 'x'), calls('r1', 'b'), results('a', 'b')],
      repairs: [{ code: 'batch_joined', index: 0, into: 2 }],
      output: [assistant('r1', 'x'), calls('r1', 'a', 'b'), results('a', 'b')],
    },
  ],
  arguments_replaced: [
    {
      why: 'a list is no object',
      input: [
        calls('r1', call('a', { arguments: [1] as unknown as ToolCall['arguments'] })),
        results(result('a', 'x', 'error')),
      ],
      repairs: [
        { code: 'arguments_replaced', index: 0, call: 0, rawArguments: '[1]', argumentsError: 'not a JSON object' },
      ],
      output: [
        calls('r1', call('a', { arguments: {}, rawArguments: '[1]', argumentsError: 'not a JSON object' })),
        results(result('a', 'x', 'error')),
      ],
    },
  ],
  status_changed: [
    {
      why: 'what could not be read was not run',
      input: [calls('r1', broken), results('a')],
      repairs: [{ code: 'status_changed', index: 0, call: 0, from: 'ok', to: 'error' }],
      output: [calls('r1', broken), results(result('a', 'result of a', 'error'))],
    },
  ],
  replay_removed: [
    {
      why: 'nobody knows where it may go',
      input: [
        reasoning('r1', 'x', unscoped),
        calls('r1', call('a', { replay: { scope: SCOPE, data: {} } }), call('b', { replay: unscoped })),
        results('a', 'b'),
      ],
      repairs: [
        { code: 'replay_removed', index: 0, place: null },
        { code: 'replay_removed', index: 1, place: 1 },
      ],
      output: [
        reasoning('r1', 'x'),
        calls('r1', call('a', { replay: { scope: SCOPE, data: {} } }), 'b'),
        results('a', 'b'),
      ],
    },
  ],
};

function renamed(responseId: string, callId: string): AgentItem {
  return calls(responseId, { ...call('a'), callId });
}
function renamedResult(callId: string): ReturnType<typeof result> {
  return { ...result('a'), callId };
}

const rows = Object.entries(CASES).flatMap(([code, cases]) => cases.map((one) => ({ code, ...one })));

test.each(rows)('$code: $why', ({ code, input, repairs, output }) => {
  const normalized = normalize(input);
  expect(normalized.repairs).toEqual(repairs);
  expect(normalized.items).toEqual(output);
  expect(repairs.map((repair) => repair.code)).toContain(code);
});

test('items that need no repair stay the same objects', () => {
  const kept = [user('x'), calls('r1', 'a'), results('a'), assistant('r2', 'y')];
  const { items } = normalize([...kept, results('stranger')]);
  expect(items).toHaveLength(kept.length);
  for (const [index, item] of items.entries()) expect(item).toBe(kept[index]);
});
