import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import OpenAI, { AzureOpenAI } from 'openai';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openaiChat } from '../../../src/providers/openai-chat/adapter.ts';
import { ask, chunk, type FakeServer, provider, question, sse, startFakeServer } from './fake-server.ts';

let server: FakeServer;
beforeAll(async () => {
  server = await startFakeServer();
});
afterAll(() => server.close());

const BEGUN = `data: ${JSON.stringify(chunk({ content: 'Let me think' }))}\n\n`;

async function closed(before: number): Promise<void> {
  for (let tries = 0; server.closedEarly === before && tries < 200; tries += 1)
    await new Promise((r) => setTimeout(r, 10));
  expect(server.closedEarly).toBe(before + 1);
}

test('a stream that goes silent is a timeout, and its connection is closed', async () => {
  server.answer({ pieces: [BEGUN], end: 'hang' });
  const before = server.closedEarly;
  await expect(ask(provider(server, { idleTimeoutMs: 60 }))).rejects.toMatchObject({
    code: 'timeout',
    retryable: true,
  });
  await closed(before);
});

test('a server that never answers is a timeout', async () => {
  const mute = createServer(() => undefined);
  mute.listen(0, '127.0.0.1');
  await once(mute, 'listening');
  const baseURL = `http://127.0.0.1:${(mute.address() as AddressInfo).port}/v1`;
  const client = new OpenAI({ apiKey: 'unused', baseURL, maxRetries: 0 });
  const slow = openaiChat({
    id: 'x',
    client,
    dialect: 'generic',
    endpoint: baseURL,
    account: 'a',
    firstByteTimeoutMs: 60,
  });
  await expect(ask(slow)).rejects.toMatchObject({ code: 'timeout', retryable: true });
  mute.close();
});

test('silence after the finish reason costs the usage, not the answer', async () => {
  server.answer({ pieces: [BEGUN, `data: ${JSON.stringify(chunk({}, 'stop'))}\n\n`], end: 'hang' });
  const { text, usage } = await ask(provider(server, { idleTimeoutMs: 60 }));
  expect([text, usage]).toEqual(['Let me think', null]);
});

test('an abort in the middle rejects with its reason and closes the connection', async () => {
  server.answer({ pieces: [BEGUN], end: 'hang' });
  const before = server.closedEarly;
  const controller = new AbortController();
  const reason = new Error('cancelled by somebody');
  const events = provider(server).stream(question(), { signal: controller.signal })[Symbol.asyncIterator]();
  await events.next();
  setTimeout(() => controller.abort(reason), 20);
  await expect(
    (async () => {
      for (;;) if ((await events.next()).done) return;
    })(),
  ).rejects.toBe(reason);
  await closed(before);
});

test('an abort before the answer rejects with its reason', async () => {
  server.answer({ pieces: [sse(chunk({}, 'stop'))] });
  const reason = new Error('too late');
  await expect(ask(provider(server), question(), AbortSignal.abort(reason))).rejects.toBe(reason);
});

test('a reader that stops reading closes the connection', async () => {
  server.answer({ pieces: [BEGUN], end: 'hang' });
  const before = server.closedEarly;
  for await (const event of provider(server).stream(question(), { signal: new AbortController().signal })) {
    if (event.type === 'text_delta') break;
  }
  await closed(before);
});

test('nobody there is a network error that names the reason', async () => {
  const client = new OpenAI({ apiKey: 'unused', baseURL: 'http://127.0.0.1:1/v1', maxRetries: 0 });
  const nobody = openaiChat({ id: 'x', client, dialect: 'generic', endpoint: 'e', account: 'a' });
  const failed = ask(nobody);
  await expect(failed).rejects.toMatchObject({ code: 'network', retryable: true });
  await expect(failed).rejects.toThrow(/ECONNREFUSED|bad port/i);
});

test('no key gets into an error', async () => {
  server.answer({
    status: 401,
    headers: { 'content-type': 'application/json' },
    pieces: [
      '{"error":{"message":"Incorrect API key provided: sk-test-0123456789abcdef","type":"invalid_request_error"}}',
    ],
  });
  const error: unknown = await ask(provider(server)).catch((caught: unknown) => caught);
  const everything = `${error} ${JSON.stringify(error)} ${(error as Error).stack} ${JSON.stringify((error as Error).cause ?? null)}`;
  expect(everything).not.toContain('0123456789abcdef');
});

test('one request is made, whatever the client was built with', async () => {
  server.answer({ status: 500, headers: {}, pieces: [''] });
  const client = new OpenAI({ apiKey: 'unused', baseURL: server.baseURL, maxRetries: 3 });
  const eager = openaiChat({ id: 'x', client, dialect: 'generic', endpoint: 'e', account: 'a' });
  await expect(ask(eager)).rejects.toMatchObject({ code: 'server_error' });
  expect(server.requests).toHaveLength(1);
});

test("Azure's own client works as well", async () => {
  const client = new AzureOpenAI({
    apiKey: 'unused',
    endpoint: server.baseURL,
    apiVersion: '2024-10-21',
    maxRetries: 2,
  });
  const azure = openaiChat({ id: 'x', client, dialect: 'azure', endpoint: 'e', account: 'a' });
  server.answer({ pieces: [sse(chunk({ content: 'x' }), chunk({}, 'stop'))] });
  expect((await ask(azure)).text).toBe('x');
  server.answer({
    status: 400,
    headers: {},
    pieces: ['{"error":{"code":"context_length_exceeded","message":"too long"}}'],
  });
  await expect(ask(azure)).rejects.toMatchObject({ code: 'context_overflow' });
  expect(server.requests).toHaveLength(1);
});

test('the request that goes out is the one that `wire` shows', async () => {
  server.answer({ pieces: [sse(chunk({ content: 'x' }), chunk({}, 'stop'))] });
  const from = provider(server);
  await ask(from);
  expect(server.requests[0]).toEqual(JSON.parse(JSON.stringify(from.wire(question()))));
});
