import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import OpenAI from 'openai';
import { createAccumulator } from '../../../src/providers/accumulator.ts';
import { type OpenAIChatOptions, openaiChat } from '../../../src/providers/openai-chat/adapter.ts';
import type { Provider } from '../../../src/providers/provider.ts';
import type { MessageRequest, ToolSpec } from '../../../src/transcript/message.ts';

/** One answer of the fake server. `pieces` are written one by one. */
export interface Answer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly pieces: readonly (string | Uint8Array)[];
  readonly end?: 'close' | 'reset' | 'hang';
}

/** A real HTTP server on this machine; the vendor's real client talks to it. */
export interface FakeServer {
  readonly baseURL: string;
  /** Bodies of the requests, parsed. */
  readonly requests: Readonly<Record<string, unknown>>[];
  /** Answers in order; the last one is repeated. */
  answer(...answers: readonly Answer[]): void;
  /** Requests whose connection was closed by the client before the answer ended. */
  readonly closedEarly: number;
  close(): Promise<void>;
}

export const SSE = { 'content-type': 'text/event-stream; charset=utf-8' } as const;
export const JSON_TYPE = { 'content-type': 'application/json' } as const;

export async function startFakeServer(): Promise<FakeServer> {
  const requests: Readonly<Record<string, unknown>>[] = [];
  let answers: readonly Answer[] = [];
  let served = 0;
  let closedEarly = 0;
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    let body = '';
    for await (const chunk of request) body += chunk;
    requests.push(JSON.parse(body === '' ? '{}' : body));
    const answer = answers[Math.min(served++, answers.length - 1)];
    if (answer === undefined) throw new Error('no answer was set');
    response.on('close', () => {
      if (!response.writableFinished) closedEarly += 1;
    });
    response.writeHead(answer.status ?? 200, answer.headers ?? SSE);
    for (const piece of answer.pieces) {
      await new Promise<void>((resolve) => response.write(piece, () => resolve()));
      if (answer.pieces.length > 1) await new Promise((resolve) => setImmediate(resolve));
    }
    if (answer.end === 'reset') response.socket?.destroy();
    else if (answer.end !== 'hang') response.end();
  };
  const server: Server = createServer((request, response) => void handle(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    baseURL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    answer(...next) {
      answers = next;
      served = 0;
      requests.length = 0;
    },
    get closedEarly() {
      return closedEarly;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

export function provider(server: FakeServer, options: Partial<OpenAIChatOptions> = {}): Provider {
  const client = new OpenAI({ apiKey: 'sk-test-0123456789abcdef', baseURL: server.baseURL, maxRetries: 0 });
  return openaiChat({ id: 'fake', client, dialect: 'generic', endpoint: server.baseURL, account: 'acct', ...options });
}

export function tool(name: string, properties: Record<string, { type: string }> = {}): ToolSpec {
  return { name, description: name, inputSchema: { type: 'object', properties } };
}

export const WEATHER: ToolSpec = tool('get_weather', { city: { type: 'string' } });

export function question(tools: readonly ToolSpec[] = [WEATHER]): MessageRequest {
  return { model: 'test-model', tools, messages: [{ role: 'user', content: [{ type: 'text', text: 'Hello?' }] }] };
}

/** Asks, and returns what the accumulator makes of the answer; rejects with what the adapter rejects with. */
export async function ask(
  from: Provider,
  request: MessageRequest = question(),
  signal: AbortSignal = new AbortController().signal,
): Promise<ReturnType<ReturnType<typeof createAccumulator>['finish']>> {
  let n = 0;
  const accumulator = createAccumulator({
    response: { provider: from.id, api: from.api, model: request.model },
    scope: from.scope(request.model),
    mintCallId: () => `call${++n}`,
    mintResponseId: () => 'response',
  });
  for await (const event of from.stream(request, { signal })) accumulator.add(event);
  return accumulator.finish();
}

/** An event stream of these chunks, ended as OpenAI ends it. */
export function sse(...chunks: readonly unknown[]): string {
  return `${chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('')}data: [DONE]\n\n`;
}

/** A chunk whose first choice has this delta. */
export function chunk(delta: unknown, finish: string | null = null): unknown {
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1750000000,
    model: 'test-model',
    choices: [{ index: 0, delta, finish_reason: finish }],
  };
}
