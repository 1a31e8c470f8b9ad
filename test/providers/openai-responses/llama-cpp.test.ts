import OpenAI from 'openai';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createResponsesProvider } from '../../../src/providers/openai-responses/adapter.ts';
import type { Provider } from '../../../src/providers/provider.ts';
import type { JsonObject } from '../../../src/transcript/json.ts';
import { callModel, kindsOf, sse, startWireServer, type WireServer } from '../wire-server.ts';
import { created, RICH } from './recorded.ts';

/** llama.cpp's server names items by id alone, and closes them all at the end. */
const FUNCTION_CALLS = [
  { id: 'fc_a1', call_id: 'call_a1', name: 'read_file', arguments: '{"path":"a.txt"}' },
  { id: 'fc_b2', call_id: 'call_b2', name: 'list_dir', arguments: '{"path":"."}' },
].map((call) => ({ type: 'function_call', status: 'completed', ...call }));
const REASONING: JsonObject = {
  id: 'rs_1',
  type: 'reasoning',
  summary: [],
  content: [{ type: 'reasoning_text', text: 'Two files.' }],
  encrypted_content: '',
};
const MESSAGE: JsonObject = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', annotations: [], logprobs: [], text: 'I look.' }],
};
const added = (item: JsonObject): JsonObject => ({ type: 'response.output_item.added', item });
const done = (item: JsonObject): JsonObject => ({ type: 'response.output_item.done', item });
const STREAM: readonly JsonObject[] = [
  created,
  added({ ...REASONING, content: [] }),
  { type: 'response.reasoning_text.delta', item_id: 'rs_1', delta: 'Two ' },
  { type: 'response.reasoning_text.delta', item_id: 'rs_1', delta: 'files.' },
  added({ ...MESSAGE, content: [] }),
  { type: 'response.content_part.added', item_id: 'msg_1', part: { type: 'output_text', text: '' } },
  { type: 'response.output_text.delta', item_id: 'msg_1', delta: 'I look.' },
  ...FUNCTION_CALLS.flatMap((call) => [
    added({ ...call, arguments: '' }),
    { type: 'response.function_call_arguments.delta', item_id: call.id, delta: call.arguments.slice(0, 5) },
    { type: 'response.function_call_arguments.delta', item_id: call.id, delta: call.arguments.slice(5) },
  ]),
  done(REASONING),
  { type: 'response.output_text.done', item_id: 'msg_1', text: 'I look.' },
  done(MESSAGE),
  ...FUNCTION_CALLS.map(done),
  {
    type: 'response.completed',
    response: {
      id: 'resp_1',
      status: 'completed',
      output: [REASONING, MESSAGE, ...FUNCTION_CALLS],
      usage: { input_tokens: 9, output_tokens: 7, total_tokens: 16 },
    },
  },
];

let server: WireServer;
let provider: Provider;
beforeAll(async () => {
  server = await startWireServer();
  provider = createResponsesProvider({ client: new OpenAI({ apiKey: 'k', baseURL: server.url, maxRetries: 0 }) });
});
afterAll(() => server.close());

const ask = (events: readonly JsonObject[], maxOutputTokens?: number) => {
  server.answer({ chunks: [sse(events)] });
  const messages = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'hi' }] }];
  const limit = maxOutputTokens === undefined ? {} : { maxOutputTokens };
  return callModel(provider, { model: 'm', messages, tools: [], ...limit });
};

test('a server that leaves output_index out gives the same items by their ids', async () => {
  const got = await ask(STREAM);
  expect(kindsOf(got.items)).toEqual(['reasoning_summary', 'assistant_message', 'tool_call_batch']);
  expect(got.items).toMatchObject([
    { text: 'Two files.', replay: { data: { itemId: 'rs_1' } } },
    { content: [{ text: 'I look.', replay: { data: { itemId: 'msg_1' } } }] },
    {
      calls: [
        { nativeId: 'call_a1', name: 'read_file', arguments: { path: 'a.txt' }, replay: { data: { itemId: 'fc_a1' } } },
        { nativeId: 'call_b2', name: 'list_dir', arguments: { path: '.' }, replay: { data: { itemId: 'fc_b2' } } },
      ],
    },
  ]);
});

test('output_index may be taken out of any stream of whole items without a change', async () => {
  const whole = (await ask(RICH)).items;
  const bare = RICH.map(({ output_index: _, ...event }) => event);
  expect((await ask(bare)).items).toEqual(whole);
});

test('items without any id are told apart by their beginnings', async () => {
  const bare = STREAM.map(({ item_id: _, ...event }): JsonObject => {
    const item = event.item as JsonObject | undefined;
    return item === undefined ? event : { ...event, item: { ...item, id: '' } };
  });
  const inOrder = bare.filter((event) => event.type !== 'response.output_item.done');
  const calls = (await ask(inOrder)).items.flatMap((item) => (item.kind === 'tool_call_batch' ? item.calls : []));
  expect(calls).toMatchObject([
    { name: 'read_file', arguments: { path: 'a.txt' } },
    { name: 'list_dir', arguments: { path: '.' } },
  ]);
});

test('an answer that took all the tokens it was allowed was cut, though the server says "completed"', async () => {
  const usage = { input_tokens: 9, output_tokens: 64, total_tokens: 73 };
  const end = { type: 'response.completed', response: { id: 'resp_1', status: 'completed', output: [MESSAGE], usage } };
  const cut = await ask([created, end], 64);
  expect(cut.stopReason).toEqual({ unified: 'length', raw: 'completed' });
  expect(cut.items).toMatchObject([{ kind: 'assistant_message', truncated: true }]);
  expect((await ask([created, end], 65)).stopReason.unified).toBe('stop');
  expect((await ask([created, end])).stopReason.unified).toBe('stop');
});
