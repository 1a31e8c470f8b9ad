import Anthropic from '@anthropic-ai/sdk';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createAnthropicProvider } from '../../../src/providers/anthropic/adapter.ts';
import { createWireReader } from '../../../src/providers/anthropic/from-wire.ts';
import type { Provider } from '../../../src/providers/provider.ts';
import type { MessageRequest } from '../../../src/transcript/message.ts';
import { callModel, kindsOf, sse, startWireServer, type WireServer } from '../wire-server.ts';
import { block, end, RICH, start, text, thinking, toolUse } from './recorded.ts';

let server: WireServer;
let provider: Provider;

beforeAll(async () => {
  server = await startWireServer();
  provider = createAnthropicProvider({
    client: new Anthropic({ apiKey: 'sk-ant-secret-key', baseURL: server.url, maxRetries: 0 }),
  });
});
afterAll(() => server.close());

const REQUEST: MessageRequest = {
  model: 'claude-test',
  messages: [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }],
  tools: [],
};

test('one response becomes items in native order, the calls last, with everything needed to replay it', async () => {
  server.answer({ chunks: [sse(RICH)] });
  const got = await callModel(provider, REQUEST);
  expect(kindsOf(got.items)).toEqual([
    'reasoning_summary',
    'reasoning_summary',
    'builtin_tool_event',
    'builtin_tool_event',
    'assistant_message',
    'reasoning_summary',
    'tool_call_batch',
  ]);
  expect(got.items[0]).toMatchObject({
    text: 'First I look. ✓ 你好',
    replay: { data: { signature: 'EqQBCgIYAhIk+/sig==' } },
  });
  expect(got.items[1]).toMatchObject({ text: '', replay: { data: { redacted: 'EmwKAhgBEgy3va3pzix' } } });
  expect(got.items[2]).toMatchObject({
    phase: 'call',
    nativeId: 'srvtoolu_01',
    payload: { input: { query: 'tides' } },
  });
  expect(got.items[3]).toMatchObject({ phase: 'result', nativeId: 'srvtoolu_01', name: 'web_search' });
  expect(got.items[6]).toMatchObject({
    calls: [
      { nativeId: 'toolu_a', name: 'read_file', arguments: { path: 'café.txt' } },
      { nativeId: 'toolu_b', name: 'get_time', arguments: {} },
    ],
  });
  expect(got.stopReason).toEqual({ unified: 'tool_calls', raw: 'tool_use' });
});

test('input is what was read afresh plus both cache parts; later counts replace earlier ones', async () => {
  server.answer({ chunks: [sse(RICH)] });
  const { usage } = await callModel(provider, REQUEST);
  expect(usage).toEqual({
    inputTokens: 1050,
    outputTokens: 77,
    cacheReadTokens: 900,
    cacheWriteTokens: 50,
    reasoningTokens: 12,
  });
});

test('a count that comes back as zero or null does not wipe what is known', async () => {
  const usage = { input_tokens: 0, cache_read_input_tokens: null, output_tokens: 5 };
  server.answer({
    chunks: [
      sse([
        start({ input_tokens: 7, cache_read_input_tokens: 3, output_tokens: 1 }),
        ...text(0, 'x'),
        ...end('end_turn', usage),
      ]),
    ],
  });
  expect((await callModel(provider, REQUEST)).usage).toMatchObject({
    inputTokens: 10,
    outputTokens: 5,
    cacheReadTokens: 3,
  });
});

test.each([
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop'],
  ['tool_use', 'stop'],
  ['max_tokens', 'length'],
  ['pause_turn', 'pause'],
  ['refusal', 'refusal'],
  ['model_context_window_exceeded', 'context_overflow'],
  ['a_word_from_the_future', 'stop'],
])('stop reason %s is %s', async (raw, unified) => {
  server.answer({ chunks: [sse([start(), ...text(0, 'words'), ...end(raw)])] });
  expect((await callModel(provider, REQUEST)).stopReason).toEqual({ unified, raw });
});

test('a call that the output limit cut is not run, and the text before it is marked', async () => {
  server.answer({
    chunks: [
      sse([
        start(),
        ...text(0, 'Writing.'),
        ...toolUse(1, 'toolu_w', 'write_file', '{"path":"a","content":"<ht'),
        ...end('max_tokens'),
      ]),
    ],
  });
  const got = await callModel(provider, REQUEST);
  expect(kindsOf(got.items)).toEqual(['assistant_message']);
  expect(got.items[0]).toMatchObject({ truncated: true });
  expect(got.discardedCalls).toEqual(['write_file']);
});

test('a refusal without a word shows its explanation', async () => {
  const stop_details = { type: 'refusal', category: 'cyber', explanation: 'Declined by the safety system.' };
  server.answer({ chunks: [sse([start(), ...end('refusal', { output_tokens: 0 }, { stop_details })])] });
  const got = await callModel(provider, REQUEST);
  expect(got).toMatchObject({ text: 'Declined by the safety system.', stopReason: { unified: 'refusal' } });
});

test('a whole message where a stream was asked for is read all the same', async () => {
  const message = {
    id: 'msg_9',
    type: 'message',
    role: 'assistant',
    model: 'claude-test',
    content: [
      { type: 'thinking', thinking: 'hm', signature: 'sig' },
      { type: 'text', text: 'Here.' },
      { type: 'tool_use', id: 'toolu_1', name: 'get_time', input: { zone: 'UTC' } },
    ],
    stop_reason: 'tool_use',
    usage: { input_tokens: 3, output_tokens: 4 },
  };
  server.answer({ headers: { 'content-type': 'application/json' }, chunks: [JSON.stringify(message)] });
  const got = await callModel(provider, REQUEST);
  expect(kindsOf(got.items)).toEqual(['reasoning_summary', 'assistant_message', 'tool_call_batch']);
  expect(got.items[2]).toMatchObject({ calls: [{ nativeId: 'toolu_1', arguments: { zone: 'UTC' } }] });
  expect(got.usage).toMatchObject({ inputTokens: 3, outputTokens: 4 });
});

const OVERLOADED = JSON.stringify({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } });

test.each([
  ['text/event-stream', OVERLOADED, 'overloaded', true, 'an error under the name of a stream'],
  ['application/json', OVERLOADED, 'overloaded', true, 'an error with status 200'],
  ['text/html', '<!doctype html><title>Sign in</title>', 'protocol', false, 'a page: the base URL is wrong'],
  ['text/plain', 'upstream error: Service overloaded', 'overloaded', true, 'what a proxy says in plain words'],
  ['application/json', '{"id":"msg_1","content":[{"ty', 'incomplete_stream', true, 'a document that was cut off'],
  ['text/event-stream', '  \n', 'incomplete_stream', true, 'nothing at all'],
])('%s %s is %s', async (type, body, code, retryable) => {
  server.answer({ headers: { 'content-type': type }, chunks: [body] });
  await expect(callModel(provider, REQUEST)).rejects.toMatchObject({ name: 'ProviderError', code, retryable });
});

test('a stream is read under any content type, after any white space', async () => {
  const stream = sse([start(), ...text(0, 'fine'), ...end('end_turn')]);
  server.answer({ headers: { 'content-type': 'application/octet-stream' }, chunks: ['\n', '\n', stream] });
  expect((await callModel(provider, REQUEST)).text).toBe('fine');
});

test('citations are kept for the replay of their text', async () => {
  const citation = {
    type: 'web_search_result_location',
    url: 'https://example.test',
    title: 'T',
    encrypted_index: 'Eo8',
    cited_text: 'noon',
  };
  server.answer({
    chunks: [
      sse([
        start(),
        ...block(
          0,
          { type: 'text', text: '', citations: null },
          { type: 'text_delta', text: 'Noon.' },
          { type: 'citations_delta', citation },
        ),
        ...end('end_turn'),
      ]),
    ],
  });
  const got = await callModel(provider, REQUEST);
  expect(got.items[0]).toMatchObject({ content: [{ text: 'Noon.', replay: { data: { citations: [citation] } } }] });
});

test('names that went out changed come back as the tools know them', async () => {
  const tools = [{ name: 'files.read', description: 'Reads.', inputSchema: { type: 'object', properties: {} } }];
  server.answer({ chunks: [sse([start(), ...toolUse(0, 'toolu_1', 'files_read', '{}'), ...end('tool_use')])] });
  const got = await callModel(provider, { ...REQUEST, tools });
  expect(got.items[0]).toMatchObject({ calls: [{ name: 'files.read' }] });
  expect(server.requests.at(-1)).toMatchObject({ tools: [{ name: 'files_read' }] });
});

test('unknown events, blocks and deltas are passed over', async () => {
  const strange = [
    { type: 'content_shimmer', index: 0 },
    ...block(0, { type: 'hologram', beam: 1 }, { type: 'beam_delta', beam: 2 }),
  ];
  server.answer({ chunks: [sse([start(), ...strange, ...text(1, 'still here'), ...end('end_turn')])] });
  expect((await callModel(provider, REQUEST)).text).toBe('still here');
});

test.each([
  ['overloaded_error', 'Overloaded', 'overloaded', true],
  ['rate_limit_error', 'Number of requests has exceeded your rate limit', 'rate_limit', true],
  ['api_error', 'Internal server error', 'server_error', true],
  ['invalid_request_error', 'prompt is too long: 210000 tokens > 200000 maximum', 'context_overflow', false],
  ['authentication_error', 'invalid x-api-key', 'auth', false],
])('an %s inside the stream is an error, not an answer', async (type, message, code, retryable) => {
  for (const before of [[], [start(), ...text(0, 'The answer is').slice(0, 2)]]) {
    server.answer({ chunks: [sse([...before, { type: 'error', error: { type, message } }])] });
    await expect(callModel(provider, REQUEST)).rejects.toMatchObject({ name: 'ProviderError', code, retryable });
  }
});

test.each([
  [529, 'overloaded_error', 'Overloaded', 'overloaded'],
  [401, 'authentication_error', 'invalid x-api-key sk-ant-secret-key', 'auth'],
  [400, 'invalid_request_error', 'messages.1.content.0: Invalid `signature` in `thinking` block', 'replay_rejected'],
  [404, 'not_found_error', 'model: claude-none', 'not_found'],
  [413, 'request_too_large', 'Request exceeds the maximum size', 'request_too_large'],
])('status %i %s is %s, and no key is told', async (status, type, message, code) => {
  server.answer({
    status,
    headers: { 'content-type': 'application/json' },
    chunks: [JSON.stringify({ type: 'error', error: { type, message } })],
  });
  const error: unknown = await callModel(provider, REQUEST).catch((caught: unknown) => caught);
  expect(error).toMatchObject({ name: 'ProviderError', code, status });
  expect(String(error)).not.toContain('sk-ant-secret-key');
});

test.each(['close', 'reset'] as const)(
  'a stream that ends by %s before its end is broken, not finished',
  async (how) => {
    server.answer({ chunks: [sse([start(), ...text(0, 'Step 1: open the').slice(0, 2)])], end: how });
    await expect(callModel(provider, REQUEST)).rejects.toMatchObject({ code: 'incomplete_stream', retryable: true });
  },
);

test('a refused connection is a network error, a silent one a timeout', async () => {
  const dead = createAnthropicProvider({
    client: new Anthropic({ apiKey: 'k', baseURL: 'http://127.0.0.1:9', maxRetries: 0 }),
  });
  await expect(callModel(dead, REQUEST)).rejects.toMatchObject({ code: 'network', retryable: true });
  const impatient = createAnthropicProvider({
    client: new Anthropic({ apiKey: 'k', baseURL: server.url, maxRetries: 0 }),
    idleTimeoutMs: 50,
  });
  server.answer({ chunks: [sse([start()])], end: 'hang' });
  await expect(callModel(impatient, REQUEST)).rejects.toMatchObject({ code: 'timeout', retryable: true });
});

test('the adapter itself reports a broken stream, whoever reads it', async () => {
  server.answer({ chunks: [sse([start(), ...text(0, 'Step 1').slice(0, 2)])] });
  const read = async (): Promise<void> => {
    for await (const event of provider.stream(REQUEST, { signal: AbortSignal.timeout(20_000) }))
      expect(event.type).not.toBe('finished');
  };
  await expect(read()).rejects.toMatchObject({ code: 'incomplete_stream' });
});

test('an abort in mid-stream closes the connection and rejects with its reason', async () => {
  server.answer({ chunks: [sse([start(), ...text(0, 'One ').slice(0, 2)])], end: 'hang' });
  const controller = new AbortController();
  const reason = new Error('stop it');
  const stream = provider.stream(REQUEST, { signal: controller.signal });
  await expect(async () => {
    for await (const event of stream) if (event.type === 'text_delta') setTimeout(() => controller.abort(reason), 5);
  }).rejects.toBe(reason);
  await server.closedByClient;
});

test('a reader that has seen the end passes over what follows', () => {
  const reader = createWireReader();
  for (const event of [start(), ...text(0, 'done'), ...end('end_turn')]) reader.read(event);
  expect(reader.finished).toBe(true);
  expect(text(1, 'more').flatMap((event) => reader.read(event))).toEqual([]);
});

test('what comes after the end is not read', async () => {
  server.answer({
    chunks: [sse([start(), ...thinking(0, 'a', 'b'), ...text(1, 'done'), ...end('end_turn'), ...text(2, 'more')])],
    end: 'hang',
  });
  expect((await callModel(provider, REQUEST)).text).toBe('done');
});
