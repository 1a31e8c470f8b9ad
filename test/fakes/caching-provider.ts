import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { check as checkAnthropic } from '../wire-laws/anthropic.ts';
import { DIALECT_LAWS } from '../wire-laws/dialects.ts';
import { check as checkChat } from '../wire-laws/openai-chat.ts';
import type { Obj } from '../wire-laws/shape.ts';
import { anthropicCache, type InputBill } from './caching/anthropic-cache.ts';
import { type Asked, askedOf, type CachingApi } from './caching/asked.ts';
import { openaiCache } from './caching/openai-cache.ts';
import { promptBlocks } from './caching/prompt-blocks.ts';
import { limited, type ScriptedAnswer } from './caching/scripted.ts';
import { eventStream } from './caching/streams.ts';

export interface CachingOptions {
  /** Tokens that input and output limit may take together, by model. */
  readonly window: (model: string) => number;
  readonly answer: (asked: Asked) => ScriptedAnswer | Promise<ScriptedAnswer>;
  /** Milliseconds, for the life of cache entries; default: a clock that stands still. */
  readonly now?: () => number;
  /** Shortest prefix that is cached, in tokens; default 1,024. */
  readonly minimumTokens?: number;
  /** Rules of the wire that a request breaks; default: the vendor's own. */
  readonly laws?: (api: CachingApi, body: Obj) => readonly string[];
  /** Called for each request that was answered or refused. `requests` holds them too, unless this is given. */
  readonly seen?: (request: BilledRequest) => void;
}

/** A request with what it cost, or why it was refused. */
export interface BilledRequest {
  readonly asked: Asked;
  readonly body: Obj;
  readonly status: number;
  /** Absent when it was refused. */
  readonly bill?: InputBill;
  readonly outputTokens: number;
  /** Rules of the wire format that it breaks; a strict server refuses those. */
  readonly broken: readonly string[];
  /** It did not fit the window. */
  readonly overflowed: boolean;
}

export interface CachingProvider {
  readonly url: string;
  readonly requests: readonly BilledRequest[];
  close(): Promise<void>;
}

/**
 * Anthropic's Messages (`<url>/v1/messages`) and OpenAI's Chat Completions (`<url>/v1/chat/completions`) on loopback: counts
 * by a real tokenizer, bills cached prefixes as the vendors document it, refuses what breaks their rules or does not fit
 * the window with their own errors, and streams what a script answers.
 */
export async function startCachingProvider(options: CachingOptions): Promise<CachingProvider> {
  const requests: BilledRequest[] = [];
  const { now = () => 0, minimumTokens = 1024 } = options;
  const fake: Fake = {
    options,
    caches: { anthropic: anthropicCache(now, minimumTokens), 'openai-chat': openaiCache(now, minimumTokens) },
    note: options.seen ?? ((request) => void requests.push(request)),
  };
  const server = createServer((request, response) => {
    void handle(fake, request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    close: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

/** Price of the input in units of an uncached token: writing 1.25 (an hour: 2), reading 0.1. */
export function inputCost({ uncached, read, written5m, written1h }: InputBill): number {
  return uncached + 1.25 * written5m + 2 * written1h + 0.1 * read;
}

export function inputTokens({ uncached, read, written5m, written1h }: InputBill): number {
  return uncached + read + written5m + written1h;
}

const NOTHING: InputBill = { uncached: 0, read: 0, written5m: 0, written1h: 0 };

interface Fake {
  readonly options: CachingOptions;
  readonly caches: Readonly<Record<CachingApi, ReturnType<typeof anthropicCache>>>;
  readonly note: (request: BilledRequest) => void;
}

async function handle(fake: Fake, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const raw = await textOfRequest(request);
  const body: Obj = JSON.parse(raw || '{}');
  if (request.method === 'GET') return void json(response, 200, { data: [] });
  const api: CachingApi = request.url?.split('?')[0]?.endsWith('/messages') === true ? 'anthropic' : 'openai-chat';
  const blocks = promptBlocks(api, body);
  const counted = blocks.reduce((sum, { tokens }) => sum + tokens.length, 0);
  const asked = askedOf(api, body, counted);
  const broken = (fake.options.laws ?? vendorLaws)(api, body);
  const tooLong = overflow(asked, fake.options.window(asked.model));
  const note = (more: Partial<BilledRequest> & Pick<BilledRequest, 'status'>): void =>
    fake.note({ asked, body, broken, overflowed: tooLong !== undefined, outputTokens: 0, ...more });
  const refusal = broken.length > 0 ? refusedAs(api, broken.join('; ')) : tooLong;
  if (refusal !== undefined) {
    note({ status: 400 });
    return void json(response, 400, refusal);
  }
  const scripted = await fake.options.answer(asked);
  if (scripted.delayMs !== undefined) await new Promise((resolve) => setTimeout(resolve, scripted.delayMs));
  if (scripted.status !== undefined) {
    note({ status: scripted.status });
    return void json(response, scripted.status, scripted.body ?? {});
  }
  const billed = fake.caches[api].bill(body, blocks);
  const bill = scripted.usage === undefined ? billed : { ...NOTHING, uncached: scripted.usage.input };
  // The same request asked again gets the same ids.
  const id = createHash('sha1').update(raw).digest('hex').slice(0, 16);
  const answer = limited(scripted, asked.maxOutput);
  note({ status: 200, bill, outputTokens: answer.outputTokens });
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const stream = eventStream(api, asked.model, id, answer, bill);
  if (scripted.hang === true) response.write(stream.slice(0, stream.indexOf('\n\n') + 2));
  else response.end(stream);
}

function vendorLaws(api: CachingApi, body: Obj): readonly string[] {
  return api === 'anthropic' ? checkAnthropic(body) : checkChat(body, DIALECT_LAWS.generic);
}

/** The vendor's own words for a request that does not fit. */
function overflow({ api, counted, maxOutput = 0 }: Asked, window: number): object | undefined {
  if (counted + maxOutput <= window) return undefined;
  if (api === 'anthropic') {
    return refusedAs(
      api,
      counted > window
        ? `prompt is too long: ${counted} tokens > ${window} maximum`
        : `input length and \`max_tokens\` exceed context limit: ${counted} + ${maxOutput} > ${window}, decrease input length or \`max_tokens\` and try again`,
    );
  }
  const limit = `This model's maximum context length is ${window} tokens. However, `;
  const message =
    counted > window
      ? `${limit}your messages resulted in ${counted} tokens. Please reduce the length of the messages.`
      : `${limit}you requested ${counted + maxOutput} tokens (${counted} in the messages, ${maxOutput} in the completion). Please reduce the length of the messages or completion.`;
  return { error: { message, type: 'invalid_request_error', param: 'messages', code: 'context_length_exceeded' } };
}

function refusedAs(api: CachingApi, message: string): object {
  const error = { type: 'invalid_request_error', message };
  return api === 'anthropic' ? { type: 'error', error } : { error: { ...error, param: null, code: null } };
}

function json(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

async function textOfRequest(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
