import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { Progress } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import { McpFailure, reasonOf } from './failure.ts';
import { type HttpServer, MAX_MESSAGE_BYTES, type McpServerSettings, type StdioServer } from './server-settings.ts';
import { StdioTransport } from './stdio-transport.ts';
import { type StreamEnd, watchedFetch } from './watched-fetch.ts';

/** The SDK's own timers are never what ends a request: callers give a signal. */
const NEVER_MS = 2 ** 31 - 1;
/** Pages of a tool list; more is a server that turns in a circle. */
const MAX_PAGES = 100;
/** Marks the error that stands in for an answer that cannot come any more. */
const STREAM_ENDED = 'holdfast/stream-ended';

/** What a server sends is read in its outline only: kinds that we do not know must not cost the whole answer. */
const listPage = z.looseObject({ tools: z.array(z.unknown()), nextCursor: z.string().optional() });
const callResult = z.looseObject({
  content: z.array(z.looseObject({ type: z.string() })).default([]),
  isError: z.boolean().optional(),
  structuredContent: z.unknown().optional(),
});

/** An answer to `tools/call`; `mcp-result.ts` makes blocks of it. */
export interface McpCallResult {
  readonly content: readonly { readonly type: string; readonly [key: string]: unknown }[];
  readonly isError?: boolean | undefined;
  readonly structuredContent?: unknown;
}

export interface CallOptions {
  readonly signal: AbortSignal;
  readonly idempotencyKey: string;
  readonly progress: (note: string) => void;
}

/** A session with one server, until it is lost. Requests reject with an {@link McpFailure}, or with `signal.reason` once aborted. */
export interface McpConnection {
  /** Whether no request can be answered any more. */
  readonly lost: boolean;
  /** Whether the server says when its list of tools changes. */
  readonly tellsChanges: boolean;
  /** All pages, as the server sent them. */
  listTools(signal: AbortSignal): Promise<readonly unknown[]>;
  callTool(name: string, args: object, options: CallOptions): Promise<McpCallResult>;
  close(): Promise<void>;
}

export interface ConnectionEvents {
  readonly onStderr: (line: string) => void;
  readonly onToolsChanged: () => void;
  /** Once, with the reason; not after `close`. */
  readonly onLost: (why: string) => void;
}

/**
 * Opens a session. The SDK is loaded with the first one.
 *
 * @throws McpFailure `unsent`, or `signal.reason`.
 */
export async function connect(
  { server }: McpServerSettings,
  signal: AbortSignal,
  events: ConnectionEvents,
): Promise<McpConnection> {
  if (server.kind === 'unset') throw new McpFailure('unsent', server.reason);
  const sdk = await loadSdk();
  const client = new sdk.Client({ name: 'holdfast', version: '1' });
  let lost: McpFailure | undefined;
  let closing = false;
  const lose = (failure: McpFailure): void => {
    if (lost !== undefined) return;
    lost = failure;
    if (!closing) events.onLost(failure.message);
  };
  const transport = openTransport(server);
  client.onclose = () =>
    lose(transport instanceof StdioTransport ? transport.end : new McpFailure('lost', 'it was closed'));
  client.onerror = (error) => {
    // Two tries to take up a stream have failed: requests that wait for it would wait for ever.
    if (!error.message.startsWith('Maximum reconnection attempts')) return;
    lose(new McpFailure('lost', 'it does not answer any more'));
    void client.close();
  };
  client.setNotificationHandler(sdk.ToolListChangedNotificationSchema, () => events.onToolsChanged());

  function openTransport(server: StdioServer | HttpServer): Transport {
    if (server.kind === 'stdio') {
      return new StdioTransport(server, { parse: sdk.deserializeMessage, onStderr: events.onStderr });
    }
    const fetch = watchedFetch({ maxBytes: MAX_MESSAGE_BYTES, onEnd: (id, end) => answerLost(transport, id, end) });
    // The SDK's own class does not fit its interface under `exactOptionalPropertyTypes`.
    return new sdk.StreamableHTTPClientTransport(new URL(server.url), {
      requestInit: { headers: { ...server.headers } },
      fetch,
    }) as Transport;
  }

  async function request<T>(signal: AbortSignal, send: (client: Client) => Promise<T>): Promise<T> {
    signal.throwIfAborted();
    try {
      return await send(client);
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      throw failureOf(error, lost, sdk);
    }
  }

  async function close(): Promise<void> {
    closing = true;
    if (transport instanceof sdk.StreamableHTTPClientTransport && lost === undefined) {
      await Promise.race([transport.terminateSession().catch(() => undefined), pause(1000)]);
    }
    await client.close().catch(() => undefined);
    // A program that never got as far as a session has still to be ended.
    await transport.close().catch(() => undefined);
  }

  try {
    await client.connect(transport, { signal, timeout: NEVER_MS });
  } catch (error) {
    const why = transport instanceof StdioTransport && lost !== undefined ? lost.message : wordsOf(error, sdk);
    await close();
    if (signal.aborted) throw signal.reason;
    throw new McpFailure('unsent', why, { cause: error });
  }
  return {
    get lost() {
      return lost !== undefined;
    },
    tellsChanges: client.getServerCapabilities()?.tools?.listChanged === true,
    listTools: async (signal) => {
      if (client.getServerCapabilities()?.tools === undefined) return [];
      return await allPages((cursor) =>
        request(signal, () =>
          client.request({ method: 'tools/list', params: cursor === undefined ? {} : { cursor } }, listPage, {
            signal,
            timeout: NEVER_MS,
          }),
        ),
      );
    },
    callTool: (name, args, { signal, idempotencyKey, progress }) =>
      request(signal, () =>
        client.request(
          {
            method: 'tools/call',
            params: {
              name,
              arguments: { ...args },
              _meta: { 'holdfast/idempotencyKey': idempotencyKey },
            },
          },
          callResult,
          { signal, timeout: NEVER_MS, onprogress: (note) => progress(progressNote(note)) },
        ),
      ),
    close,
  };
}

async function loadSdk() {
  const [client, http, stdio, protocol] = await Promise.all([
    import('@modelcontextprotocol/sdk/client/index.js'),
    import('@modelcontextprotocol/sdk/client/streamableHttp.js'),
    import('@modelcontextprotocol/sdk/shared/stdio.js'),
    import('@modelcontextprotocol/sdk/types.js'),
  ]);
  return {
    Client: client.Client,
    StreamableHTTPClientTransport: http.StreamableHTTPClientTransport,
    StreamableHTTPError: http.StreamableHTTPError,
    deserializeMessage: stdio.deserializeMessage,
    McpError: protocol.McpError,
    ToolListChangedNotificationSchema: protocol.ToolListChangedNotificationSchema,
  };
}

type Sdk = Awaited<ReturnType<typeof loadSdk>>;

/** Stands in for the answer: the SDK knows no other way to end one request. Late ones meet nobody. */
function answerLost(transport: Transport, id: string | number, end: StreamEnd): void {
  const error = { code: -32_000, message: end.why, data: { [STREAM_ENDED]: end.tooLong ? 'unusable' : 'lost' } };
  transport.onmessage?.({ jsonrpc: '2.0', id, error });
}

async function allPages(
  page: (cursor: string | undefined) => Promise<z.output<typeof listPage>>,
): Promise<readonly unknown[]> {
  const tools: unknown[] = [];
  const seen = new Set<string>();
  let cursor: string | undefined;
  do {
    const { tools: more, nextCursor } = await page(cursor);
    tools.push(...more);
    cursor = nextCursor === '' ? undefined : nextCursor;
    if (cursor !== undefined && (seen.has(cursor) || seen.size >= MAX_PAGES)) {
      throw new McpFailure('unusable', 'its list of tools does not end');
    }
    if (cursor !== undefined) seen.add(cursor);
  } while (cursor !== undefined);
  return tools;
}

/** What the connection's end, or the answer, says of the request. */
function failureOf(error: unknown, lost: McpFailure | undefined, sdk: Sdk): unknown {
  if (error instanceof McpFailure) return error;
  if (error instanceof sdk.McpError) {
    const marked = markOf(error.data);
    if (marked !== undefined) return new McpFailure(marked, withoutCode(error.message), { cause: error });
    if (lost === undefined) return new McpFailure('answered', withoutCode(error.message), { cause: error });
  }
  if (lost !== undefined) return lost;
  const words = wordsOf(error, sdk);
  if (error instanceof sdk.StreamableHTTPError) return httpFailure(error.code ?? 0, words, error);
  if (error instanceof z.core.$ZodError) {
    return new McpFailure('unusable', 'its answer is not what MCP says', { cause: error });
  }
  return new McpFailure(neverArrived(error) ? 'unsent' : 'lost', words, { cause: error });
}

function wordsOf(error: unknown, sdk: Sdk): string {
  if (!(error instanceof sdk.StreamableHTTPError)) return withoutCode(reasonOf(error));
  const said = error.message.replace(/^(?:Streamable HTTP error: |Error POSTing to endpoint: )+/, '');
  return reasonOf(`it answered with HTTP status ${error.code ?? 'unknown'}: ${said}`);
}

/** 404 and 400 are how servers answer to a session that they have forgotten: nothing was done, and a new one may do. */
function httpFailure(status: number, words: string, cause: Error): McpFailure {
  const code = status === 404 || status === 400 ? 'unsent' : status >= 400 && status < 500 ? 'answered' : 'lost';
  return new McpFailure(code, words, { cause });
}

function markOf(data: unknown): 'lost' | 'unusable' | undefined {
  const mark = typeof data === 'object' && data !== null ? Reflect.get(data, STREAM_ENDED) : undefined;
  return mark === 'lost' || mark === 'unusable' ? mark : undefined;
}

/** Errors of the socket that come before a byte of the request has left. */
const BEFORE_SENDING: ReadonlySet<string> = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH']);

function neverArrived(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  const code = typeof cause === 'object' && cause !== null ? Reflect.get(cause, 'code') : undefined;
  return typeof code === 'string' && BEFORE_SENDING.has(code);
}

function withoutCode(message: string): string {
  return message.replace(/^(?:MCP error -?\d+: )+/, '');
}

function progressNote({ progress, total, message }: Progress): string {
  const share = total === undefined ? `${progress}` : `${progress}/${total}`;
  return message === undefined ? share : `${share} ${message}`;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });
}
