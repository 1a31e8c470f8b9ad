import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js';
import { reasonOf } from './failure.ts';

/** Milliseconds that the SDK has to hand over what stood at the end of a stream. */
const HAND_OVER_MS = 1000;

export interface FetchWatch {
  /** Bytes of one message. */
  readonly maxBytes: number;
  /** The stream that should have brought the answer to request `id` has ended, and cannot be taken up again. */
  readonly onEnd: (id: string | number, end: StreamEnd) => void;
}

export interface StreamEnd {
  readonly why: string;
  readonly tooLong: boolean;
}

/**
 * `fetch` for the SDK's HTTP transport, which bounds no answer and leaves a request without an end when the stream of
 * its answer breaks.
 */
export function watchedFetch({ maxBytes, onEnd }: FetchWatch): FetchLike {
  return async (url, init) => {
    const response = await fetch(url, init);
    if (!response.ok || response.body === null) return response;
    const events = response.headers.get('content-type')?.includes('text/event-stream') === true;
    const id = events ? requestId(init) : undefined;
    const body = watched(response.body, createCounter(events, maxBytes), (end) => {
      if (id !== undefined) setTimeout(() => onEnd(id, end), HAND_OVER_MS).unref();
    });
    const { status, statusText, headers } = response;
    return new Response(body, { status, statusText, headers });
  };
}

function requestId(init: RequestInit | undefined): string | number | undefined {
  if (init?.method !== 'POST' || typeof init.body !== 'string') return undefined;
  const message: unknown = JSON.parse(init.body);
  if (typeof message !== 'object' || message === null || !('method' in message) || !('id' in message)) return undefined;
  return typeof message.id === 'string' || typeof message.id === 'number' ? message.id : undefined;
}

/** The same bytes, as long as no message is too long. `onEnd` hears of an end after which no answer can come. */
function watched(
  body: ReadableStream<Uint8Array>,
  counter: Counter,
  onEnd: (end: StreamEnd) => void,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  const broke = (why: string): void => {
    if (!counter.resumable()) onEnd({ why, tooLong: false });
  };
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      let part: Awaited<ReturnType<typeof reader.read>>;
      try {
        part = await reader.read();
      } catch (error) {
        broke(reasonOf(error));
        controller.error(error);
        return;
      }
      if (part.done) {
        broke('its answer broke off');
        controller.close();
      } else if (counter.fits(part.value)) controller.enqueue(part.value);
      else {
        const why = 'it sent a message that is too long';
        onEnd({ why, tooLong: true });
        controller.error(new Error(why));
        await reader.cancel();
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

interface Counter {
  /** Counts a chunk; `false` when a message has become too long. */
  fits(chunk: Uint8Array): boolean;
  /** Whether an event had an id: the SDK then asks for the rest by it. */
  resumable(): boolean;
}

/** Counts the bytes of each message: of an event where the body is a stream of events, else of the whole. */
function createCounter(events: boolean, maxBytes: number): Counter {
  let held = 0;
  let resumable = false;
  let tail = '\n';
  return {
    fits(chunk) {
      held += chunk.byteLength;
      if (events) {
        const text = tail + Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).toString('latin1');
        resumable ||= /[\r\n]id:/.test(text);
        const blank = Math.max(text.lastIndexOf('\n\n'), text.lastIndexOf('\n\r\n'), text.lastIndexOf('\r\r'));
        if (blank >= 0) held = Math.min(held, text.length - blank);
        tail = text.slice(-4);
      }
      return held <= maxBytes;
    },
    resumable: () => resumable,
  };
}
