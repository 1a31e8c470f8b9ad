import { isJsonObject, type JsonObject } from '../transcript/json.ts';
import type { StreamEvent } from '../transcript/stream-event.ts';
import { classify } from './classify.ts';
import { isHtml } from './error-body.ts';
import { ProviderError } from './errors.ts';
import { createSseDecoder, type SseEvent } from './sse.ts';
import { StreamFailure } from './stream-failure.ts';
import { watchedBytes } from './watched-bytes.ts';

/** Reads the native events of one response, in order. */
export interface NativeReader {
  read(event: unknown): readonly StreamEvent[];
  /** Whether the terminal event came. */
  readonly finished: boolean;
}

export interface VendorStreamOptions {
  readonly signal: AbortSignal;
  /** Milliseconds without a byte after which the response counts as stalled. */
  readonly idleTimeoutMs: number;
  /** The events that a stream would have brought, for servers that answer with one JSON document all the same. */
  readonly eventsOfWhole: (body: JsonObject) => Iterable<unknown>;
}

/**
 * The events of one HTTP answer of status 200, up to and including the terminal one; what follows is not read.
 *
 * @throws StreamFailure for an error that the server reported in the body; ProviderError `incomplete_stream`, `timeout` or
 * `protocol` for what broke; the signal's reason once aborted.
 */
export async function* vendorStream(
  response: Response,
  reader: NativeReader,
  options: VendorStreamOptions,
): AsyncGenerator<StreamEvent, void, undefined> {
  for await (const native of nativeEvents(response, options)) {
    yield* reader.read(native);
    if (reader.finished) return;
  }
  options.signal.throwIfAborted();
  throw new ProviderError('incomplete_stream', 'The response ended before it was finished.');
}

/**
 * The body itself decides what it is, whatever its content type says: proxies answer with JSON, pages and streams under
 * each other's names. Its first visible character tells.
 */
async function* nativeEvents(
  response: Response,
  options: VendorStreamOptions,
): AsyncGenerator<unknown, void, undefined> {
  if (response.body === null) return;
  const decoder = createSseDecoder();
  const text = new TextDecoder();
  let kind: BodyKind | undefined;
  let seen = '';
  for await (const bytes of watchedBytes(response.body, watch(options))) {
    if (kind !== 'events') {
      seen += text.decode(bytes, { stream: true });
      kind ??= kindOf(seen, response);
    }
    // White space before the first event means nothing to the decoder, so it may see all bytes from the start.
    if (kind !== 'whole') yield* parsed(decoder.push(bytes), 'protocol');
  }
  if (kind === 'whole') yield* wholeBody(seen + text.decode(), response, options);
  // What stands there without its last line break may be the end of a document, or the beginning of one.
  else yield* parsed(decoder.end(), 'incomplete_stream');
}

type BodyKind = 'events' | 'whole';

/** `undefined` while nothing but white space (or a byte order mark), or the beginning of a field's name, came. */
function kindOf(seen: string, response: Response): BodyKind | undefined {
  const body = seen.replace(/^\uFEFF/, '').trimStart();
  if (body === '') return undefined;
  if (/^[{[<]/.test(body)) return 'whole';
  if (response.headers.get('content-type')?.includes('text/event-stream') === true || body.startsWith(':'))
    return 'events';
  if (FIELDS.some((field) => body.startsWith(field))) return 'events';
  return FIELDS.some((field) => field.startsWith(body)) ? undefined : 'whole';
}

const FIELDS: readonly string[] = ['data:', 'event:', 'id:', 'retry:'];

function* parsed(events: readonly SseEvent[], broken: 'protocol' | 'incomplete_stream'): Generator<unknown> {
  for (const { event, data } of events) {
    if (data === '' || data === '[DONE]') continue;
    const value = json(data);
    if (value === undefined && event === 'error') throw new StreamFailure(data);
    if (value === undefined) throw new ProviderError(broken, 'The stream holds an event that is not JSON.');
    yield failing(value, event);
  }
}

/** An error looks different from all other events, under whatever name it comes. */
function failing(value: unknown, event: string): unknown {
  if (!isJsonObject(value)) return value;
  const bare = value.type === undefined && (isJsonObject(value.error) || typeof value.error === 'string');
  if (bare || value.type === 'error' || event === 'error') throw new StreamFailure(value);
  return value;
}

/** One JSON document where a stream was asked for, a page, or what a proxy says in plain words. */
function* wholeBody(body: string, response: Response, options: VendorStreamOptions): Generator<unknown> {
  const value = json(body);
  if (isJsonObject(value)) yield* options.eventsOfWhole(failing(value, '') as JsonObject);
  else if (/^\s*[{[]/.test(body)) throw new ProviderError('incomplete_stream', 'The answer is JSON that was cut off.');
  else if (isHtml(body)) throw classify({ status: response.status, headers: response.headers, body, nowMs: 0 });
  else throw new StreamFailure(body);
}

function watch({ signal, idleTimeoutMs }: VendorStreamOptions): { signal: AbortSignal; idleMs: () => number } {
  return { signal, idleMs: () => idleTimeoutMs };
}

function json(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
