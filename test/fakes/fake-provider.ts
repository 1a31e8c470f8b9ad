import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What the fake model answers to one request. */
export interface FakeAnswer {
  /** Pieces of text, each a delta. */
  readonly text?: string | readonly string[];
  readonly calls?: readonly { readonly name: string; readonly args: unknown; readonly id?: string }[];
  /** Milliseconds before the first byte, and between pieces. */
  readonly delayMs?: number;
  readonly chunkDelayMs?: number;
  /** An HTTP error instead. */
  readonly status?: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** After the text: keep the connection open and say nothing more. */
  readonly hang?: boolean;
  /** After the text: break the connection. */
  readonly reset?: boolean;
  readonly usage?: { readonly prompt_tokens: number; readonly completion_tokens: number };
  readonly finish?: string;
}

export interface SeenRequest {
  // biome-ignore lint/suspicious/noExplicitAny: a request body is whatever the adapter sent
  readonly body: any;
  readonly raw: string;
  /** `performance.now()` of arrival, and of the moment the far end was gone before we had answered. */
  readonly arrivedAt: number;
  abortedAt: number | undefined;
  finished: boolean;
}

export interface FakeProvider {
  readonly baseURL: string;
  readonly requests: SeenRequest[];
  /** Paths of what was read (`GET`), such as `/v1/models`. */
  readonly read: string[];
  /** Entries of its `/models`. */
  models: readonly object[];
  answer: (request: SeenRequest, index: number) => FakeAnswer | Promise<FakeAnswer>;
  close(): Promise<void>;
}

/** An OpenAI Chat Completions endpoint on loopback whose answers a test decides. */
export async function startFakeProvider(answer: FakeProvider['answer'], port = 0): Promise<FakeProvider> {
  const requests: SeenRequest[] = [];
  const fake: FakeProvider = { baseURL: '', requests, read: [], models: [], answer, close: async () => undefined };
  const server = createServer((request, response) => {
    void handle(fake, request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const { port: bound } = server.address() as AddressInfo;
  return Object.assign(fake, {
    baseURL: `http://127.0.0.1:${bound}/v1`,
    close: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  });
}

async function handle(fake: FakeProvider, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const raw = await text(request);
  if (request.method === 'GET') {
    fake.read.push(request.url ?? '');
    return void response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ data: fake.models }));
  }
  const seen: SeenRequest = {
    body: JSON.parse(raw),
    raw,
    arrivedAt: performance.now(),
    abortedAt: undefined,
    finished: false,
  };
  fake.requests.push(seen);
  response.on('close', () => {
    if (!seen.finished) seen.abortedAt = performance.now();
  });
  const answer = await fake.answer(seen, fake.requests.length - 1);
  await pause(answer.delayMs ?? 0);
  if (answer.status !== undefined) {
    seen.finished = true;
    response.writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers });
    response.end(typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body ?? {}));
    return;
  }
  await streamAnswer(answer, seen, response, fake.requests.length);
}

async function streamAnswer(
  answer: FakeAnswer,
  seen: SeenRequest,
  response: ServerResponse,
  id: number,
): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream', ...answer.headers });
  const send = (choices: unknown[], more: object = {}): void => {
    const chunk = {
      id: `chatcmpl-${id}`,
      object: 'chat.completion.chunk',
      created: 1,
      model: seen.body.model,
      choices,
      ...more,
    };
    response.write(`data: ${JSON.stringify(chunk)}\n\n`);
  };
  const delta = (content: object): void => send([{ index: 0, delta: content, finish_reason: null }]);
  delta({ role: 'assistant', content: '' });
  for (const piece of typeof answer.text === 'string' ? [answer.text] : (answer.text ?? [])) {
    if (seen.abortedAt !== undefined) return;
    delta({ content: piece });
    await pause(answer.chunkDelayMs ?? 0);
  }
  if (answer.hang === true) return;
  if (answer.reset === true) return void response.destroy();
  const calls = answer.calls ?? [];
  for (const [index, call] of calls.entries()) {
    const fn = { name: call.name, arguments: JSON.stringify(call.args) };
    delta({ tool_calls: [{ index, id: call.id ?? `call_${id}_${index}`, type: 'function', function: fn }] });
  }
  send([{ index: 0, delta: {}, finish_reason: answer.finish ?? (calls.length > 0 ? 'tool_calls' : 'stop') }]);
  send([], { usage: answer.usage ?? { prompt_tokens: Math.ceil(seen.raw.length / 4), completion_tokens: 20 } });
  seen.finished = true;
  response.end('data: [DONE]\n\n');
}

async function text(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

function pause(ms: number): Promise<void> {
  return ms === 0 ? Promise.resolve() : new Promise((resolve) => setTimeout(resolve, ms));
}
