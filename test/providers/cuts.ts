import { createAccumulator } from '../../src/providers/accumulator.ts';
import { ProviderError } from '../../src/providers/errors.ts';
import { type NativeReader, vendorStream } from '../../src/providers/vendor-stream.ts';

/** Bytes between two cuts. The quick run leaves some out; `HOLDFAST_ALL_CUTS` (`npm run test:long`) takes every byte, over 10,000 cuts a format. */
const STRIDE = process.env.HOLDFAST_ALL_CUTS === undefined ? 3 : 1;

/** Whether every byte is cut at. */
export const ALL_CUTS: boolean = STRIDE === 1;

/** One wire format: how its native events are read. */
export interface Format {
  readonly reader: () => NativeReader;
}

const SCOPE = { endpoint: 'https://api.test', account: '', model: 'm' };

/**
 * Reads a body that comes in these pieces and then ends, or breaks. The vendors' clients hand their answers on unread, so
 * this is where bytes matter; that they do is tested with a real server, next to this.
 */
async function read(format: Format, pieces: readonly Uint8Array[], breaks: boolean): Promise<string> {
  let at = 0;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const piece = pieces[at++];
      if (piece !== undefined) controller.enqueue(piece);
      else if (breaks) controller.error(new TypeError('terminated'));
      else controller.close();
    },
  });
  const response = new Response(body, { status: 200, headers: { 'content-type': 'text/event-stream' } });
  let minted = 0;
  const accumulator = createAccumulator({
    response: { provider: 'p', api: 'anthropic', model: 'm' },
    scope: SCOPE,
    mintCallId: () => `call-${minted++}`,
  });
  const options = { signal: SIGNAL, idleTimeoutMs: 10_000, eventsOfWhole: () => [] };
  for await (const event of vendorStream(response, format.reader(), options)) accumulator.add(event);
  return JSON.stringify(accumulator.finish());
}

const SIGNAL = new AbortController().signal;

/** The same stream as another server would write it: CRLF, comments as keep-alives, data without the space. */
export function rewritten(stream: string): readonly string[] {
  return [
    stream,
    stream.replaceAll('\n', '\r\n'),
    stream.replaceAll('\n', '\r'),
    stream.replaceAll('\n\n', '\n\n: keep-alive\n\n').replaceAll('data: ', 'data:'),
    `\uFEFF${stream.replaceAll('event: ', 'id: 7\nretry: 10\nevent: ')}`,
  ];
}

export interface CutResult {
  readonly cuts: number;
  /** Cuts that gave something else than they should have. */
  readonly wrong: readonly string[];
}

/** Cuts every form of the stream in two at every byte, and in many small pieces; all must give the same items. */
export async function rechunk(format: Format, stream: string): Promise<CutResult> {
  const whole = await read(format, [new TextEncoder().encode(stream)], false);
  const wrong: string[] = [];
  let cuts = 0;
  for (const [form, text] of rewritten(stream).entries()) {
    const bytes = new TextEncoder().encode(text);
    const step = STRIDE * (form === 0 ? 1 : ALL_CUTS ? 2 : 7);
    for (let at = 1; at < bytes.length; at += step)
      await compare(form, at, [bytes.subarray(0, at), bytes.subarray(at)]);
    for (const size of form === 0 ? [1, 7] : [5]) await compare(form, -size, piecesOf(bytes, size));
  }
  return { cuts, wrong };

  async function compare(form: number, at: number, pieces: readonly Uint8Array[]): Promise<void> {
    cuts += 1;
    const got = await read(format, pieces, false).catch(String);
    if (got !== whole) wrong.push(`form ${form}, cut ${at}: ${got}`);
  }
}

function piecesOf(bytes: Uint8Array, size: number): readonly Uint8Array[] {
  const pieces: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += size) pieces.push(bytes.subarray(at, at + size));
  return pieces;
}

/**
 * Cuts the stream off at every byte, by a clean end and by a broken one. Before the JSON of the terminal event is whole
 * nothing may count as a success, and what fails must be worth a retry.
 */
export async function truncate(format: Format, stream: string): Promise<CutResult> {
  const bytes = new TextEncoder().encode(stream);
  const complete = new TextEncoder().encode(stream.trimEnd()).length;
  const wrong: string[] = [];
  let cuts = 0;
  for (let at = 0; at < complete; at += STRIDE) {
    for (const breaks of STRIDE === 1 ? [false, true] : [at % 2 === 0]) {
      cuts += 1;
      const got: unknown = await read(format, [bytes.subarray(0, at)], breaks).catch((error: unknown) => error);
      const right = got instanceof ProviderError && got.code === 'incomplete_stream' && got.retryable;
      if (!right) wrong.push(`cut ${at}: ${String(got)}`);
    }
  }
  return { cuts, wrong };
}
