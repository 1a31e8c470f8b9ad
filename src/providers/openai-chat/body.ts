import { classify } from '../classify.ts';
import { htmlTitle, isHtml } from '../error-body.ts';
import { ProviderError } from '../errors.ts';
import { DONE, parseFrame, parseJsonBody } from '../json-frames.ts';
import type { HeaderBag } from '../retry-after.ts';
import { createSseDecoder, type SseEvent } from '../sse.ts';
import { StreamFailure } from '../stream-failure.ts';
import type { Ending } from './from-wire.ts';

/** What a body turned out to hold: chunks in order, then how it ended. */
export type BodyPart = { readonly chunks: readonly unknown[] } | { readonly ending: Ending };

/** How many bytes may come before the kind of body is decided: white space sent to keep a connection alive does not count. */
const HEAD = 16;

/**
 * The chunks in a body, which itself decides what it is, whatever was asked for and whatever its content type says: an
 * event stream, JSON, or a page.
 *
 * @throws ProviderError `protocol`, not retryable, for HTML; `incomplete_stream` for JSON that is cut off. StreamFailure for
 * an error that is plain text.
 */
export async function* bodyParts(
  bytes: AsyncIterable<Uint8Array>,
  headers: HeaderBag,
): AsyncGenerator<BodyPart, void, undefined> {
  const text = new TextDecoder();
  const head: Uint8Array[] = [];
  let seen = '';
  let kind: 'unknown' | 'events' | 'whole' = 'unknown';
  const sse = createSseDecoder();
  for await (const chunk of bytes) {
    if (kind === 'events') {
      const chunks = frames(sse.push(chunk));
      yield { chunks };
      if (chunks.includes(DONE)) return yield { ending: 'done' };
      continue;
    }
    seen += text.decode(chunk, { stream: true });
    head.push(chunk);
    if (kind === 'unknown') kind = kindOf(seen);
    if (kind !== 'events') continue;
    for (const piece of head.splice(0)) {
      const chunks = frames(sse.push(piece));
      yield { chunks };
      if (chunks.includes(DONE)) return yield { ending: 'done' };
    }
  }
  if (kind === 'events') return yield* lastFrames(sse.end());
  yield* wholeBody(seen + text.decode(), headers);
}

/** Undecided only while nothing but white space, or the beginning of a field name, came. */
function kindOf(seen: string): 'unknown' | 'events' | 'whole' {
  const body = seen.trimStart().replace(/^\uFEFF/, '');
  if (body === '') return 'unknown';
  if (/^[{[<]/.test(body)) return 'whole';
  if (/^(?:data|event|id|retry)?:|^(?:data|event|id|retry)\r?\n/.test(body)) return 'events';
  return body.length < HEAD && /^(?:d|da|dat|data|e|ev|eve|even|event|i|id|r|re|ret|retr|retry)$/.test(body)
    ? 'unknown'
    : 'whole';
}

/** What the end mark is followed by is no part of the answer, whether it came with it or later. */
function frames(events: readonly SseEvent[]): readonly unknown[] {
  const chunks = events.flatMap(({ event, data }) => {
    if (event === 'error' && !data.trimStart().startsWith('{')) throw new StreamFailure(data);
    return parseFrame(data);
  });
  const end = chunks.indexOf(DONE);
  return end < 0 ? chunks : chunks.slice(0, end + 1);
}

/** The event that the end of the body cut or merely did not close; half of one is a body that broke off. */
function* lastFrames(events: readonly SseEvent[]): Generator<BodyPart> {
  let chunks: readonly unknown[] = [];
  try {
    chunks = frames(events);
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
  }
  yield { chunks };
  yield { ending: chunks.includes(DONE) ? 'done' : 'closed' };
}

function* wholeBody(body: string, headers: HeaderBag): Generator<BodyPart> {
  const trimmed = body.trim();
  const type = headers.get('content-type') ?? 'none';
  if (isHtml(trimmed)) {
    const what = `The server answered with a page ("${htmlTitle(trimmed).slice(0, 80)}", content type ${type}): is the base URL right?`;
    throw new ProviderError('protocol', what, { retryable: false });
  }
  if (trimmed === '') return yield { ending: 'closed' };
  if (!/^[{[]/.test(trimmed)) {
    throw new ProviderError('protocol', `The answer is neither JSON nor an event stream (content type ${type}).`);
  }
  if (trimmed.startsWith('[')) throw new StreamFailure(trimmed);
  yield { chunks: parseJsonBody(trimmed) };
  yield { ending: 'done' };
}

/** A failure inside an answer that began well, in our words. */
export function classifyFailure(failure: StreamFailure, headers: HeaderBag, secrets: readonly string[]): ProviderError {
  return classify({ headers, body: failure.body, nowMs: Date.now(), secrets });
}
