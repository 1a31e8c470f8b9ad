import { expect, test } from 'vitest';
import { type Accumulator, createAccumulator } from '../../../src/providers/accumulator.ts';
import { ProviderError } from '../../../src/providers/errors.ts';
import type { UnifiedStopReason } from '../../../src/transcript/message.ts';
import type { StreamEvent } from '../../../src/transcript/stream-event.ts';

const SCOPE = { endpoint: 'https://api.example.test/v1', account: 'acct', model: 'm' };

function accumulator(): Accumulator {
  let n = 0;
  return createAccumulator({
    response: { provider: 'p', api: 'openai-chat', model: 'm' },
    scope: SCOPE,
    mintCallId: () => `id${++n}`,
    mintResponseId: () => 'ours',
  });
}

function accumulate(...events: StreamEvent[]): ReturnType<Accumulator['finish']> {
  const made = accumulator();
  for (const event of events) made.add(event);
  return made.finish();
}

const finished = (unified: UnifiedStopReason): StreamEvent => ({
  type: 'finished',
  stopReason: { unified, raw: unified },
});
const call = (part: number, args: string, name = 'run'): StreamEvent => ({
  type: 'tool_call_delta',
  part,
  nativeId: `n${part}`,
  name,
  arguments: args,
});

test('parts come out in native order and the batch is last', () => {
  const { items, text } = accumulate(
    { type: 'response_started', id: 'r1', model: 'other' },
    { type: 'reasoning_delta', part: 0, text: 'hm' },
    { type: 'replay', part: 0, data: { signature: 's' } },
    call(1, '{"a":1}'),
    { type: 'text_delta', part: 2, text: 'He' },
    { type: 'text_delta', part: 2, text: 'llo' },
    finished('stop'),
  );
  const response = { id: 'r1', provider: 'p', api: 'openai-chat', model: 'm' };
  expect(items).toEqual([
    {
      kind: 'reasoning_summary',
      schemaVersion: 1,
      response,
      text: 'hm',
      part: 0,
      replay: { scope: SCOPE, data: { signature: 's' } },
    },
    { kind: 'assistant_message', schemaVersion: 1, response, content: [{ type: 'text', text: 'Hello', part: 2 }] },
    {
      kind: 'tool_call_batch',
      schemaVersion: 1,
      response,
      calls: [{ callId: 'id1', nativeId: 'n1', name: 'run', arguments: { a: 1 }, part: 1 }],
    },
  ]);
  expect(text).toBe('Hello');
});

test('empty and blank text makes no item', () => {
  expect(accumulate({ type: 'text_delta', part: 0, text: '\n\n' }, finished('stop')).items).toEqual([]);
});

test('a response without an id gets one of ours', () => {
  const { items } = accumulate({ type: 'text_delta', part: 0, text: 'x' }, finished('stop'));
  expect(items).toMatchObject([{ response: { id: 'ours' } }]);
});

const STOPS: Record<UnifiedStopReason, { withCalls: UnifiedStopReason; without: UnifiedStopReason; run: boolean }> = {
  stop: { withCalls: 'tool_calls', without: 'stop', run: true },
  tool_calls: { withCalls: 'tool_calls', without: 'stop', run: true },
  pause: { withCalls: 'tool_calls', without: 'pause', run: true },
  length: { withCalls: 'length', without: 'length', run: false },
  context_overflow: { withCalls: 'context_overflow', without: 'context_overflow', run: false },
  refusal: { withCalls: 'refusal', without: 'refusal', run: false },
  content_filter: { withCalls: 'content_filter', without: 'content_filter', run: false },
};

test.each(Object.entries(STOPS))(
  'after %s calls run exactly where the table says',
  (said, { withCalls, without, run }) => {
    const bare = accumulate({ type: 'text_delta', part: 0, text: 'x' }, finished(said as UnifiedStopReason));
    expect(bare.stopReason).toEqual({ unified: without, raw: said });
    const { items, stopReason, discardedCalls } = accumulate(call(0, '{}'), finished(said as UnifiedStopReason));
    expect(stopReason.unified).toBe(withCalls);
    expect(items.length).toBe(run ? 1 : 0);
    expect(discardedCalls).toEqual(run ? [] : ['run']);
  },
);

test('text that the output limit cut is marked', () => {
  const { items } = accumulate({ type: 'text_delta', part: 0, text: 'x' }, call(1, '{"a'), finished('length'));
  expect(items).toMatchObject([{ kind: 'assistant_message', truncated: true }]);
  expect(items).toHaveLength(1);
});

test('a refusal is one although the server says stop', () => {
  const { stopReason, items } = accumulate({ type: 'refusal_delta', part: 0, text: 'No.' }, finished('stop'));
  expect(stopReason.unified).toBe('refusal');
  expect(items).toMatchObject([{ content: [{ type: 'refusal', text: 'No.' }] }]);
});

test('a stream without a finish is incomplete, keeps its text and never its calls', () => {
  const made = accumulator();
  made.add({ type: 'text_delta', part: 0, text: 'The resu' });
  made.add(call(1, '{"a":1}'));
  expect(() => made.finish()).toThrowError(ProviderError);
  expect(made.partial()).toMatchObject([
    { kind: 'assistant_message', interrupted: true, content: [{ type: 'text', text: 'The resu' }] },
  ]);
  expect(accumulator().partial()).toEqual([]);
});

test('usage is merged key by key, and all zeros are unknown', () => {
  const usage = (inputTokens: number, outputTokens: number): StreamEvent => ({
    type: 'usage',
    usage: { inputTokens, outputTokens },
  });
  expect(accumulate(usage(5, 1), usage(5, 7), finished('stop')).usage).toEqual({
    inputTokens: 5,
    outputTokens: 7,
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
    reasoningTokens: 0,
  });
  expect(accumulate(usage(0, 0), finished('stop')).usage).toBeNull();
  expect(accumulate(finished('stop')).usage).toBeNull();
});

test('merged calls are split, the first keeps the native id', () => {
  const { items } = accumulate(call(0, '{"a":1}{"a":2}\n{"a":3}'), call(1, '{}'), finished('tool_calls'));
  expect(items).toMatchObject([
    {
      calls: [
        { callId: 'id1', nativeId: 'n0', arguments: { a: 1 }, part: 0 },
        { callId: 'id2', nativeId: '', arguments: { a: 2 }, part: 1 },
        { callId: 'id3', nativeId: '', arguments: { a: 3 }, part: 2 },
        { callId: 'id4', nativeId: 'n1', arguments: {}, part: 3 },
      ],
    },
  ]);
});

test('replay data without any content is kept as empty reasoning', () => {
  expect(accumulate({ type: 'replay', part: 0, data: { redacted: 'x' } }, finished('stop')).items).toMatchObject([
    { kind: 'reasoning_summary', text: '', replay: { data: { redacted: 'x' } } },
  ]);
});

test('a call without a name is answered, not executed', () => {
  expect(accumulate(call(0, '{}', ''), finished('stop')).items).toMatchObject([
    { calls: [{ name: 'unnamed_tool', argumentsError: 'The call names no tool.' }] },
  ]);
});
