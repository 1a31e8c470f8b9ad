import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ProviderErrorCode } from '../../../src/providers/errors.ts';
import {
  type Answer,
  ask,
  chunk,
  type FakeServer,
  JSON_TYPE,
  provider,
  SSE,
  sse,
  startFakeServer,
} from './fake-server.ts';

let server: FakeServer;
beforeAll(async () => {
  server = await startFakeServer();
});
afterAll(() => server.close());

const whole = (message: unknown, finish: string | null = 'stop'): string =>
  JSON.stringify({
    id: '1',
    object: 'chat.completion',
    model: 'm',
    choices: [{ index: 0, finish_reason: finish, message }],
    usage: { prompt_tokens: 5, completion_tokens: 6 },
  });
const HELLO = sse(chunk({ content: 'Hel' }), chunk({ content: 'lo' }), chunk({}, 'stop'));
const pretty = `data: ${JSON.stringify(chunk({ content: 'Hello' }), null, 1).replaceAll('\n', '\ndata: ')}\n\ndata: ${JSON.stringify(chunk({}, 'stop'))}\n\n`;

const GOOD: readonly (readonly [what: string, answer: Answer])[] = [
  ['an event stream', { pieces: [HELLO] }],
  ['an event stream that says it is JSON', { headers: JSON_TYPE, pieces: [HELLO] }],
  ['an event stream without a content type', { headers: {}, pieces: [HELLO] }],
  ['an event stream behind comments', { pieces: [': keep-alive\n\n', ': OPENROUTER PROCESSING\n\n', ':\n\n', HELLO] }],
  ['an event stream behind blank lines', { pieces: ['\n\n\r\n', HELLO] }],
  ['an event stream behind a byte order mark', { pieces: [`\uFEFF${HELLO}`] }],
  [
    'events with names, without spaces, the last one unclosed',
    { pieces: [HELLO.replaceAll('data: ', 'event:message\ndata:').trimEnd()] },
  ],
  ['no end mark', { pieces: [HELLO.replace('data: [DONE]\n\n', '')] }],
  ['more behind the end mark', { pieces: [`${HELLO}data: ${JSON.stringify(chunk({ content: 'no' }))}\n\n`] }],
  [
    'a second choice, told first',
    { pieces: [HELLO.replace('"choices":[', '"choices":[{"index":1,"delta":{"content":"no"}},')] },
  ],
  ['JSON over several lines of one event', { pieces: [pretty] }],
  ['events without blank lines between', { pieces: [HELLO.replaceAll('}\n\ndata', '}\ndata')] }],
  ['two events glued on one line', { pieces: [HELLO.replace('}\n\ndata: ', '}data: ')] }],
  [
    'an event begun, broken off and written again',
    { pieces: [HELLO.replace('data: {', 'data: {"id":"chatcmpl-1","objdata: {')] },
  ],
  ['null and heartbeats as data', { pieces: [`data: null\n\ndata: ping\n\ndata:\n\n${HELLO}`] }],
  [
    'a JSON answer to a streaming request',
    { headers: JSON_TYPE, pieces: [whole({ role: 'assistant', content: 'Hello' })] },
  ],
  ['a JSON answer that says it is a stream', { headers: SSE, pieces: [whole({ content: 'Hello' })] }],
  ['a JSON answer behind blank lines', { headers: JSON_TYPE, pieces: ['\n\n', '\n\n', whole({ content: 'Hello' })] }],
  [
    'a JSON answer with an end mark glued on',
    { headers: SSE, pieces: [`${whole({ content: 'Hello' })}\ndata: [DONE]\n\n`] },
  ],
  ['a JSON answer without a finish reason', { headers: JSON_TYPE, pieces: [whole({ content: 'Hello' }, null)] }],
  [
    'chunks of JSON, one a line',
    { headers: JSON_TYPE, pieces: [HELLO.replaceAll('data: ', '').replaceAll('\n\n', '\n')] },
  ],
  [
    'content as parts',
    {
      headers: JSON_TYPE,
      pieces: [
        whole({
          content: [
            { type: 'text', text: 'Hel' },
            { type: 'text', text: 'lo' },
          ],
        }),
      ],
    },
  ],
  [
    'thinking whose opening tag stood in the prompt',
    { headers: JSON_TYPE, pieces: [whole({ content: 'Let me see.</think>\n\nHello' })] },
  ],
  [
    'empty choices before and after',
    {
      pieces: [
        sse({ id: 'x', choices: [], prompt_filter_results: [] }, chunk({ content: 'Hello' }), chunk({}, 'stop'), {
          id: 'x',
          choices: null,
          usage: { prompt_tokens: 1 },
        }),
      ],
    },
  ],
  [
    'two choices',
    {
      pieces: [
        sse(chunk({ content: 'Hello' }), { choices: [{ index: 1, delta: { content: 'Other' } }] }, chunk({}, 'stop')),
      ],
    },
  ],
  ['an unknown finish reason', { pieces: [sse(chunk({ content: 'Hello' }), chunk({}, 'eos_token'))] }],
  ['an end mark without a finish reason', { pieces: [sse(chunk({ content: 'Hello' }))] }],
  [
    'a connection that breaks after the finish reason',
    { pieces: [HELLO.replace('data: [DONE]\n\n', '')], end: 'reset' },
  ],
];

test.each(GOOD)('%s is read as the answer it is', async (_, answer) => {
  server.answer(answer);
  const { text, stopReason, items } = await ask(provider(server, { idleTimeoutMs: 2_000 }));
  expect([text, stopReason.unified, items.at(-1)?.kind]).toEqual(['Hello', 'stop', 'assistant_message']);
  expect(server.requests).toHaveLength(1);
  expect(server.requests[0]).toMatchObject({ stream: true });
});

const BAD: readonly (readonly [
  what: string,
  answer: Answer,
  code: ProviderErrorCode,
  retryable: boolean,
  says?: string,
])[] = [
  [
    'text without a finish reason',
    {
      pieces: [
        HELLO.slice(
          0,
          HELLO.indexOf(
            'data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1750000000,"model":"test-model","choices":[{"index":0,"delta":{},',
          ),
        ),
      ],
    },
    'incomplete_stream',
    true,
  ],
  ['an empty body', { pieces: [''] }, 'incomplete_stream', true],
  ['comments and nothing else', { pieces: [': keep-alive\n\n'] }, 'incomplete_stream', true],
  ['an end mark and nothing else', { pieces: ['data: [DONE]\n\n'] }, 'protocol', true],
  ['a connection that breaks', { pieces: [HELLO.slice(0, 200)], end: 'reset' }, 'incomplete_stream', true],
  [
    'a cut JSON answer',
    { headers: JSON_TYPE, pieces: [whole({ content: 'Hello' }).slice(0, 90)] },
    'incomplete_stream',
    true,
  ],
  [
    'glued events of which one is lost',
    { pieces: [HELLO.replace('data: {', 'data: {"choices":[{"delta":{"content":"losdata: {')] },
    'protocol',
    true,
  ],
  [
    'a page with status 200',
    { headers: { 'content-type': 'text/html' }, pieces: ['<!DOCTYPE html><html><title>Login</title></html>'] },
    'protocol',
    false,
    'text/html',
  ],
  [
    'plain words with status 200',
    { headers: { 'content-type': 'text/plain' }, pieces: ['ok then'] },
    'protocol',
    true,
    'text/plain',
  ],
  [
    'an envelope',
    { headers: JSON_TYPE, pieces: ['{"data":{"choices":[{"message":{"content":"x"}}]},"success":true}'] },
    'protocol',
    true,
    'success',
  ],
  ['no choices', { headers: JSON_TYPE, pieces: ['{"id":"1","choices":[]}'] }, 'protocol', true],
  [
    'an error as the only event',
    {
      pieces: [
        'data: {"choices":[],"error":{"code":"insufficient_quota","message":"quota exceeded"}}\n\ndata: [DONE]\n\n',
      ],
    },
    'quota',
    false,
    'quota exceeded',
  ],
  [
    'an error in the middle of text',
    {
      pieces: [
        `${HELLO.slice(0, HELLO.indexOf('\n\n') + 2)}data: {"error":{"message":"Internal error","type":"server_error"}}\n\n`,
      ],
    },
    'server_error',
    true,
    'Internal error',
  ],
  [
    'an error as a named event with a string',
    {
      pieces: [
        'event: error\ndata: {"error":"The model is loaded with context length of only 2048 tokens, when context the overflows"}\n\n',
      ],
    },
    'context_overflow',
    false,
  ],
  [
    'an error as a named event that is no JSON',
    { pieces: ['event: error\ndata: rate limit exceeded\n\n'] },
    'rate_limit',
    true,
  ],
  [
    'an error of vLLM',
    { pieces: ['data: {"object":"error","message":"boom","type":"BadRequestError","code":400}\n\n'] },
    'invalid_request',
    false,
    'boom',
  ],
  [
    'an error within the choice',
    {
      pieces: [
        'data: {"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error","error":{"code":502,"message":"Provider returned error"}}]}\n\n',
      ],
    },
    'server_error',
    true,
  ],
  [
    'an error object in a JSON answer',
    { headers: JSON_TYPE, pieces: ['{"error":{"message":"Model is loading","type":"server_error","code":null}}'] },
    'overloaded',
    true,
    'Model is loading',
  ],
  [
    'a content filter in a stream',
    { pieces: ['data: {"error":{"message":"The response was filtered","code":"content_filter","status":400}}\n\n'] },
    'content_filter',
    false,
  ],
  [
    'a finish reason that means a failure',
    { pieces: [sse(chunk({ content: 'The first st' }), chunk({}, 'insufficient_system_resource'))] },
    'overloaded',
    true,
  ],
  [
    'a code beside empty choices',
    {
      headers: JSON_TYPE,
      pieces: ['{"choices":null,"base_resp":{"status_code":1008,"status_msg":"insufficient balance"}}'],
    },
    'quota',
    false,
    'insufficient balance',
  ],
  [
    'a list with an error',
    { headers: JSON_TYPE, pieces: ['[{"error":{"code":429,"message":"slow","status":"RESOURCE_EXHAUSTED"}}]'] },
    'rate_limit',
    true,
  ],
  [
    'a status with a body that is not {error}',
    {
      status: 400,
      headers: JSON_TYPE,
      pieces: ['{"object":"error","message":"maximum context length is 16384 tokens"}'],
    },
    'context_overflow',
    false,
    '16384',
  ],
  [
    'a status with a page',
    {
      status: 502,
      headers: { 'content-type': 'text/html' },
      pieces: ['<html><head><title>502 Bad Gateway</title></head></html>'],
    },
    'server_error',
    true,
    '502 Bad Gateway',
  ],
  ['a status with nothing', { status: 401, headers: {}, pieces: [''] }, 'auth', false],
];

test.each(BAD.map((row) => ({ what: row[0], row })))('$what is a typed error', async ({ row }) => {
  const [, answer, code, retryable, says] = row;
  server.answer(answer);
  const failed = ask(provider(server, { idleTimeoutMs: 2_000 }));
  await expect(failed).rejects.toMatchObject({ name: 'ProviderError', code, retryable });
  if (says !== undefined) await expect(failed).rejects.toThrow(says);
  expect(server.requests).toHaveLength(1);
});

test('usage is read wherever a server puts it, once, and zeros are unknown', async () => {
  const end = (usage: object): Answer => ({ pieces: [sse(chunk({ content: 'x' }), chunk({}, 'stop'), usage)] });
  const usageOf = async (usage: object) => {
    server.answer(end(usage));
    return (await ask(provider(server))).usage;
  };
  expect(
    await usageOf({
      choices: [],
      usage: {
        prompt_tokens: 308,
        completion_tokens: 68,
        prompt_tokens_details: { cached_tokens: 100 },
        completion_tokens_details: { reasoning_tokens: 5 },
      },
    }),
  ).toEqual({ inputTokens: 308, outputTokens: 68, cacheReadTokens: 100, cacheWriteTokens: 0, reasoningTokens: 5 });
  expect(
    await usageOf({ usage: { prompt_tokens: 7, completion_tokens: 1, prompt_cache_hit_tokens: 3 } }),
  ).toMatchObject({ inputTokens: 7, cacheReadTokens: 3 });
  expect(await usageOf({ choices: [], x_groq: { usage: { prompt_tokens: 7, completion_tokens: 1 } } })).toMatchObject({
    inputTokens: 7,
  });
  expect(
    await usageOf({ choices: [{ index: 0, delta: {}, usage: { prompt_tokens: 7, completion_tokens: 1 } }] }),
  ).toMatchObject({ inputTokens: 7 });
  expect(await usageOf({ choices: [], usage: { prompt_tokens: 0, completion_tokens: 0 } })).toBeNull();
  expect(await usageOf({ choices: [], usage: null })).toBeNull();
});

test('reasoning under two names is read once; as parts it is joined', async () => {
  server.answer({
    pieces: [
      sse(
        chunk({ reasoning: 'a ', reasoning_content: 'a ' }),
        chunk({ reasoning: 'b', reasoning_content: 'b' }),
        chunk({ content: 'c' }, 'stop'),
      ),
    ],
  });
  expect((await ask(provider(server))).items).toMatchObject([
    { kind: 'reasoning_summary', text: 'a b' },
    { kind: 'assistant_message' },
  ]);
  const thinking = (text: string): unknown =>
    chunk({ content: [{ type: 'thinking', thinking: [{ type: 'text', text }] }] });
  server.answer({
    pieces: [
      sse(
        thinking('2 plus '),
        thinking('2'),
        chunk({
          content: [
            { type: 'thinking', thinking: [] },
            { type: 'text', text: 'Four' },
          ],
        }),
        chunk({ content: '.' }, 'stop'),
      ),
    ],
  });
  const { items, text } = await ask(provider(server));
  expect(items[0]).toMatchObject({
    kind: 'reasoning_summary',
    text: '2 plus 2',
    replay: { data: { field: 'content' } },
  });
  expect(text).toBe('Four.');
});

test('a refusal is one, with its words', async () => {
  server.answer({
    pieces: [sse(chunk({ content: null, refusal: "I can't " }), chunk({ refusal: 'help.' }), chunk({}, 'stop'))],
  });
  const { stopReason, text, items } = await ask(provider(server));
  expect([stopReason.unified, text]).toEqual(['refusal', "I can't help."]);
  expect(items).toMatchObject([{ content: [{ type: 'refusal' }] }]);
});

test('calls under content_filter or length are discarded', async () => {
  for (const finish of ['content_filter', 'length']) {
    server.answer({
      pieces: [
        sse(
          chunk({ tool_calls: [{ index: 0, id: 'a', function: { name: 'get_weather', arguments: '{}' } }] }),
          chunk({}, finish),
        ),
      ],
    });
    const { items, stopReason, discardedCalls } = await ask(provider(server));
    expect([items, stopReason.unified, discardedCalls]).toEqual([[], finish, ['get_weather']]);
  }
});
