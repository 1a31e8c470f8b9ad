import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isObj, type Obj, str } from './case-file.ts';
import { asText, fillPlaceholders } from './notation.ts';

/** One recorded HTTP answer and how the connection ends after it. */
export interface Answer {
  /** `{ status, headers, body | body_text | body_chunks | body_base64_chunks }`. */
  readonly http: Obj;
  /** `close`: clean end. `reset`: the socket is destroyed. `hang`: nothing more comes, the connection stays open. */
  readonly end?: string;
  /** Cuts the body into pieces of that many bytes. */
  readonly chunkBytes?: number;
}

/** What a client sent. */
interface Received {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  /** Parsed JSON, or the text where it is none. */
  readonly body: unknown;
}

/** Gives recorded answers to whatever vendor's client asks. */
export interface ReplayServer {
  readonly url: string;
  readonly received: readonly Received[];
  close(): Promise<void>;
}

/**
 * Starts a server on a free local port.
 *
 * @param answers one a request, in order; with `repeat` the last is given for ever, else further requests get a 599 that
 *   says so.
 */
export async function replayServer(
  answers: readonly Answer[],
  options: { readonly repeat?: boolean } = {},
): Promise<ReplayServer> {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    void read(request).then((body) => {
      const index = received.push({ path: str(request.url), headers: request.headers, body }) - 1;
      const answer = answers[index] ?? (options.repeat === true ? answers.at(-1) : undefined);
      if (answer === undefined) {
        response.writeHead(599, { 'content-type': 'text/plain' }).end('no further answer is recorded');
        return;
      }
      void send(response, answer);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    received,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function read(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString('utf8');
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

async function send(response: ServerResponse, { http, end, chunkBytes }: Answer): Promise<void> {
  const pieces = piecesOf(http).flatMap((piece) => cut(piece, chunkBytes));
  const headers = headersOf(http);
  // A body that does not end cleanly must not announce its length, or the client waits for the wrong thing.
  if (end === 'reset' || end === 'hang') delete headers['content-length'];
  response.socket?.setNoDelay(true);
  response.writeHead(Number(http.status ?? 200), headers);
  response.flushHeaders();
  for (const [i, piece] of pieces.entries()) {
    if (response.destroyed) return;
    response.write(piece);
    // Each piece is a chunk of its own to the client; giving way lets it be read before the next comes.
    if (pieces.length > 1 && (pieces.length < 100 || i % 16 === 0))
      await new Promise((resolve) => setImmediate(resolve));
  }
  if (end === 'hang') return;
  if (end === 'reset') {
    // What was written must be on its way before the socket dies, else the client sees no body at all.
    await new Promise((resolve) => setTimeout(resolve, 20));
    response.socket?.destroy();
    return;
  }
  response.end();
}

function headersOf(http: Obj): Record<string, string> {
  const given = isObj(http.headers) ? http.headers : {};
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => [name.toLowerCase(), fillPlaceholders(String(value), Date.now())]),
  );
}

/** The body in the pieces in which it is to be written. */
function piecesOf(http: Obj): Buffer[] {
  if (Array.isArray(http.body_base64_chunks))
    return http.body_base64_chunks.map((piece) => Buffer.from(str(piece), 'base64'));
  if (Array.isArray(http.body_chunks)) return http.body_chunks.map((piece) => Buffer.from(str(piece), 'utf8'));
  const body = http.body_text ?? http.body;
  return body === undefined || body === '' ? [] : [Buffer.from(asText(body), 'utf8')];
}

function cut(piece: Buffer, bytes: number | undefined): Buffer[] {
  if (bytes === undefined) return [piece];
  return Array.from({ length: Math.ceil(piece.length / bytes) }, (_, i) => piece.subarray(i * bytes, (i + 1) * bytes));
}
