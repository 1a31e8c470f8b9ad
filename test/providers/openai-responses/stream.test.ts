import OpenAI from 'openai';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createResponsesProvider } from '../../../src/providers/openai-responses/adapter.ts';
import type { Provider } from '../../../src/providers/provider.ts';
import type { JsonObject } from '../../../src/transcript/json.ts';
import type { MessageRequest } from '../../../src/transcript/message.ts';
import { callModel, kindsOf, sse, startWireServer, type WireServer } from '../wire-server.ts';
import { call, completed, created, incomplete, message, outputOf, RESPONSE, RICH, reasoning } from './recorded.ts';

let server: WireServer;
let provider: Provider;

beforeAll(async () => {
  server = await startWireServer();
  provider = createResponsesProvider({
    client: new OpenAI({ apiKey: 'sk-secret-key', baseURL: server.url, maxRetries: 0 }),
  });
});
afterAll(() => server.close());

const REQUEST: MessageRequest = {
  model: 'gpt-test',
  messages: [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }],
  tools: [],
};
const ask = (...events: readonly JsonObject[]) => {
  server.answer({ chunks: [sse(events)] });
  return callModel(provider, REQUEST);
};

test('one response becomes items in native order, the calls last, with everything needed to replay it', async () => {
  const got = await ask(...RICH);
  expect(kindsOf(got.items)).toEqual([
    'reasoning_summary',
    'builtin_tool_event',
    'assistant_message',
    'reasoning_summary',
    'tool_call_batch',
  ]);
  expect(got.items).toMatchObject([
    { text: 'First I look. ✓\n\nThen I ask 你好.', replay: { data: { itemId: 'rs_01', encrypted: 'gAAAAenc+/=' } } },
    { phase: 'call', nativeId: 'ws_01', name: 'web_search', payload: { type: 'web_search_call' } },
    { content: [{ text: 'High tide is at noon — 正午 🌊.', replay: { data: { itemId: 'msg_01' } } }] },
    { text: '', replay: { data: { encrypted: 'gAAAAenc2' } } },
    {
      calls: [
        {
          nativeId: 'call_a',
          name: 'read_file',
          arguments: { path: 'café.txt' },
          replay: { data: { itemId: 'fc_01' } },
        },
        { nativeId: 'call_b', name: 'get_time', arguments: {} },
      ],
    },
  ]);
  expect(got.stopReason).toEqual({ unified: 'tool_calls', raw: 'completed' });
  expect(got.usage).toEqual({
    inputTokens: 1050,
    outputTokens: 77,
    cacheReadTokens: 900,
    cacheWriteTokens: 0,
    reasoningTokens: 12,
  });
});

test('the same items come from a stream with an empty final list, without one, without deltas, and from one document', async () => {
  const whole = (await ask(...RICH)).items;
  const end = RICH.at(-1)?.response as JsonObject;
  const noDeltas = RICH.filter(({ type }) => !String(type).endsWith('.delta'));
  const onlyEnd = [created, { type: 'response.completed', response: end }];
  const emptyList = [...RICH.slice(0, -1), { type: 'response.completed', response: { ...end, output: [] } }];
  for (const events of [noDeltas, onlyEnd, emptyList]) expect((await ask(...events)).items).toEqual(whole);
  server.answer({ headers: { 'content-type': 'application/json' }, chunks: [JSON.stringify(end)] });
  expect((await callModel(provider, REQUEST)).items).toEqual(whole);
});

test('a call that the output limit cut is not run', async () => {
  const cut = call(0, 'fc_1', 'call_1', 'write_file', '{"path":"a","content":"xxxx');
  const got = await ask(created, ...cut, incomplete('max_output_tokens'));
  expect(got).toMatchObject({
    items: [],
    discardedCalls: ['write_file'],
    stopReason: { unified: 'length', raw: 'max_output_tokens' },
  });
  expect(got.usage).toMatchObject({ inputTokens: 50, outputTokens: 16 });
});

test.each([
  ['content_filter', 'content_filter'],
  ['max_output_tokens', 'length'],
  ['a_reason_from_the_future', 'length'],
])('incomplete because of %s is %s', async (reason, unified) => {
  expect(
    (await ask(created, ...message(0, 'msg_1', 'output_text', 'Half'), incomplete(reason))).stopReason.unified,
  ).toBe(unified);
});

test('a refusal is a refusal, with its words', async () => {
  const got = await ask(created, ...message(0, 'msg_1', 'refusal', "I can't help ", 'with that.'), completed());
  expect(got).toMatchObject({ text: "I can't help with that.", stopReason: { unified: 'refusal' } });
  expect(got.items).toMatchObject([{ content: [{ type: 'refusal', text: "I can't help with that." }] }]);
});

test('raw reasoning is read where there is no summary, and not twice where there are both', async () => {
  const raw = [{ type: 'response.reasoning_text.delta', output_index: 0, content_index: 0, delta: 'hm' }];
  const done = { type: 'reasoning', id: 'rs_1', summary: [], content: [{ type: 'reasoning_text', text: 'hm' }] };
  const events = [{ type: 'response.output_item.added', output_index: 0, item: { ...done, content: [] } }, ...raw];
  const both = [...reasoning(1, 'rs_2', null, 'summary'), { ...raw[0], output_index: 1 }];
  const got = await ask(
    created,
    ...events,
    { type: 'response.output_item.done', output_index: 0, item: done },
    ...both,
    ...message(2, 'msg_1', 'output_text', 'x'),
    completed(),
  );
  expect(got.items).toMatchObject([{ text: 'hm' }, { text: 'summary' }, {}]);
});

test('a free-form call is a call whose argument is its input', async () => {
  const item = {
    type: 'custom_tool_call',
    id: 'ctc_1',
    call_id: 'call_p',
    name: 'apply_patch',
    input: '*** Begin "Patch"',
  };
  const got = await ask(
    created,
    { type: 'response.output_item.added', output_index: 0, item: { ...item, input: '' } },
    { type: 'response.custom_tool_call_input.delta', output_index: 0, delta: '***' },
    { type: 'response.output_item.done', output_index: 0, item },
    completed(),
  );
  expect(got.items).toMatchObject([
    {
      calls: [
        {
          name: 'apply_patch',
          arguments: { input: '*** Begin "Patch"' },
          replay: { data: { custom: true, itemId: 'ctc_1' } },
        },
      ],
    },
  ]);
});

test.each([
  [{ code: 'server_error', message: 'An error occurred while processing your request.' }, 'server_error', true],
  [
    { code: 'rate_limit_exceeded', message: 'Rate limit reached for gpt-test. Please try again in 4.2s.' },
    'rate_limit',
    true,
  ],
  [
    { code: 'context_length_exceeded', message: 'Your input exceeds the context window of this model.' },
    'context_overflow',
    false,
  ],
])('a failed response (%j) is an error', async (error, code, retryable) => {
  const failed = { type: 'response.failed', response: { ...RESPONSE, status: 'failed', error } };
  await expect(ask(created, failed)).rejects.toMatchObject({
    name: 'ProviderError',
    code,
    retryable,
    rawCode: error.code,
  });
});

test('an error event ends the call at once, although the connection stays open', async () => {
  const error = {
    type: 'error',
    code: 'server_is_overloaded',
    message: 'Our servers are currently overloaded.',
    param: null,
  };
  server.answer({ chunks: [sse([created, error])], end: 'hang' });
  await expect(callModel(provider, REQUEST)).rejects.toMatchObject({ code: 'overloaded', retryable: true });
});

test('names that went out changed come back as the tools know them', async () => {
  const tools = [{ name: 'files.read', description: 'Reads.', inputSchema: { type: 'object', properties: {} } }];
  server.answer({ chunks: [sse([created, ...call(0, 'fc_1', 'call_1', 'files_read', '{}'), completed()])] });
  expect((await callModel(provider, { ...REQUEST, tools })).items).toMatchObject([{ calls: [{ name: 'files.read' }] }]);
});

test.each([
  [401, 'invalid_api_key', 'Incorrect API key provided: sk-secret-key', 'auth'],
  [404, 'model_not_found', 'The model does not exist', 'not_found'],
  [400, 'invalid_encrypted_content', 'The encrypted content could not be verified.', 'replay_rejected'],
  [429, 'insufficient_quota', 'You exceeded your current quota.', 'quota'],
])('status %i %s is %s told without the key', async (status, code, message, expected) => {
  server.answer({
    status,
    headers: { 'content-type': 'application/json' },
    chunks: [JSON.stringify({ error: { code, message, type: 'x' } })],
  });
  const error: unknown = await callModel(provider, REQUEST).catch((caught: unknown) => caught);
  expect(error).toMatchObject({ name: 'ProviderError', code: expected, status });
  expect(String(error)).not.toContain('sk-secret-key');
});

test.each(['close', 'reset'] as const)(
  'a stream that ends by %s before its end is broken, not finished',
  async (end) => {
    server.answer({ chunks: [sse([created, ...message(0, 'msg_1', 'output_text', 'Step 1')])], end });
    await expect(callModel(provider, REQUEST)).rejects.toMatchObject({ code: 'incomplete_stream', retryable: true });
  },
);

test('the adapter itself reports a broken stream, whoever reads it', async () => {
  server.answer({ chunks: [sse([created])] });
  const read = async (): Promise<void> => {
    for await (const event of provider.stream(REQUEST, { signal: AbortSignal.timeout(20_000) }))
      expect(event.type).not.toBe('finished');
  };
  await expect(read()).rejects.toMatchObject({ code: 'incomplete_stream' });
});

test('an abort in mid-stream closes the connection and rejects with its reason', async () => {
  server.answer({ chunks: [sse([created, ...message(0, 'msg_1', 'output_text', 'One ')])], end: 'hang' });
  const controller = new AbortController();
  const reason = new Error('stop it');
  const stream = provider.stream(REQUEST, { signal: controller.signal });
  await expect(async () => {
    for await (const event of stream) if (event.type === 'text_delta') setTimeout(() => controller.abort(reason), 5);
  }).rejects.toBe(reason);
  await server.closedByClient;
});

test('what was recorded ends as the server lists it', () => {
  expect(outputOf(RICH)).toHaveLength(6);
});
