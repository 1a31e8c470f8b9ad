import { isJsonObject, type JsonObject } from '../transcript/json.ts';
import type { StreamEvent } from '../transcript/stream-event.ts';
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

async function* nativeEvents(
  response: Response,
  options: VendorStreamOptions,
): AsyncGenerator<unknown, void, undefined> {
  const type = response.headers.get('content-type') ?? '';
  if (response.body === null) return;
  if (!type.includes('text/event-stream')) {
    yield* wholeBody(await textOf(response.body, options), options);
    return;
  }
  const decoder = createSseDecoder();
  for await (const bytes of watchedBytes(response.body, watch(options))) yield* parsed(decoder.push(bytes), 'protocol');
  // What stands there without its last line break may be the end of a document, or the beginning of one.
  yield* parsed(decoder.end(), 'incomplete_stream');
}

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

/** One JSON document where a stream was asked for; a stream under another content type; or no answer at all. */
function* wholeBody(text: string, options: VendorStreamOptions): Generator<unknown> {
  const value = json(text);
  if (isJsonObject(value)) {
    yield* options.eventsOfWhole(failing(value, '') as JsonObject);
    return;
  }
  if (!/^\s*(?:event|data|id|retry)?:/.test(text)) throw new StreamFailure(text);
  const decoder = createSseDecoder();
  yield* parsed(decoder.push(new TextEncoder().encode(text)), 'protocol');
  yield* parsed(decoder.end(), 'incomplete_stream');
}

async function textOf(body: ReadableStream<Uint8Array>, options: VendorStreamOptions): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const bytes of watchedBytes(body, watch(options))) text += decoder.decode(bytes, { stream: true });
  return text + decoder.decode();
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
