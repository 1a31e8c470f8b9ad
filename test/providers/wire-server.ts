import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type AccumulatedResponse, createAccumulator } from '../../src/providers/accumulator.ts';
import type { MediaLookup, Provider } from '../../src/providers/provider.ts';
import type { AgentItem } from '../../src/transcript/items.ts';
import type { JsonObject } from '../../src/transcript/json.ts';
import type { MessageRequest } from '../../src/transcript/message.ts';
import type { StreamEvent } from '../../src/transcript/stream-event.ts';

/** What the vendor's server answers. Chunks are written one by one, so that the client sees them apart. */
export interface Answer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly chunks: readonly (string | Uint8Array)[];
  /** `close`: ends cleanly. `reset`: destroys the socket. `hang`: stays open, silent. */
  readonly end?: 'close' | 'reset' | 'hang';
}

export interface WireServer {
  readonly url: string;
  /** Bodies of the requests, in order. */
  readonly requests: readonly JsonObject[];
  /** The same as they came. */
  readonly bodies: readonly string[];
  readonly headers: readonly IncomingMessage['headers'][];
  /** Settles when the client has closed the connection of the last hanging answer. */
  readonly closedByClient: Promise<void>;
  answer(...answers: readonly Answer[]): void;
  close(): Promise<void>;
}

/** A server on a free port that plays recorded answers, the last one again and again. */
export async function startWireServer(): Promise<WireServer> {
  const requests: JsonObject[] = [];
  const bodies: string[] = [];
  const headers: IncomingMessage['headers'][] = [];
  let queue: Answer[] = [];
  let clientClosed: () => void = () => {};
  const closedByClient = new Promise<void>((resolve) => {
    clientClosed = resolve;
  });
  const server = createServer((request, response) => {
    const bytes: Buffer[] = [];
    request.on('data', (chunk: Buffer) => bytes.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(bytes).toString('utf8');
      bodies.push(body);
      requests.push(JSON.parse(body) as JsonObject);
      headers.push(request.headers);
      const answer = queue.length > 1 ? queue.shift() : queue[0];
      response.on('close', () => {
        if (!response.writableFinished) clientClosed();
      });
      void play(response, answer ?? { status: 500, chunks: ['no answer was scripted'] });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    bodies,
    headers,
    closedByClient,
    answer: (...answers) => {
      queue = [...answers];
    },
    close: () => closed(server),
  };
}

async function play(response: ServerResponse, answer: Answer): Promise<void> {
  response.writeHead(answer.status ?? 200, { 'content-type': 'text/event-stream; charset=utf-8', ...answer.headers });
  response.flushHeaders();
  for (const chunk of answer.chunks) {
    response.write(chunk);
    if (answer.chunks.length > 1) await new Promise((resolve) => setImmediate(resolve));
  }
  if (answer.end === 'reset') setImmediate(() => response.destroy());
  else if (answer.end !== 'hang') response.end();
}

function closed(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}

export interface Received extends AccumulatedResponse {
  readonly events: readonly StreamEvent[];
}

export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly media?: MediaLookup;
  /** Prefix of minted call ids. */
  readonly mint?: string;
}

/** One model call through the real adapter and the shared accumulator. */
export async function callModel(
  provider: Provider,
  request: MessageRequest,
  options: CallOptions = {},
): Promise<Received> {
  let minted = 0;
  const accumulator = createAccumulator({
    response: { provider: provider.id, api: provider.api, model: request.model },
    scope: provider.scope(request.model),
    mintCallId: () => `${options.mint ?? 'call'}-${minted++}`,
  });
  const events: StreamEvent[] = [];
  const { signal = AbortSignal.timeout(20_000), media } = options;
  for await (const event of provider.stream(request, { signal, ...(media === undefined ? {} : { media }) })) {
    events.push(event);
    accumulator.add(event);
  }
  return { ...accumulator.finish(), events };
}

/** Server-sent events as a vendor writes them. */
export function sse(events: readonly JsonObject[]): string {
  return events.map((event) => `event: ${String(event.type)}\ndata: ${JSON.stringify(event)}\n\n`).join('');
}

/** What an item is, in few words, for comparing shapes. */
export function kindsOf(items: readonly AgentItem[]): readonly string[] {
  return items.map((item) => item.kind);
}
