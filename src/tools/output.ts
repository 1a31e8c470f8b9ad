import { fromMcp, isMcpResult } from './mcp-result.ts';
import { isPlainText, mediaTypeOf } from './media-type.ts';
import { MAX_MEDIA_BYTES, MAX_OUTPUT_CHARS, mediaKind, type Output, textBlock, tooLarge } from './output-block.ts';
import { safeJson } from './safe-json.ts';
import { thrownText } from './thrown-text.ts';

/**
 * Turns whatever a tool returned into blocks. Never rejects.
 *
 * Strings stay as they are, MCP results keep their blocks and their `isError`, bytes become text, an image or a file,
 * everything else JSON. Streams and responses are errors: nobody would read them.
 */
export async function outputOf(value: unknown): Promise<Output> {
  try {
    return await convert(value);
  } catch (error) {
    return failure(`The tool returned a value that cannot be read: ${thrownText(error)}`);
  }
}

/** An error result with this text. */
export function failure(message: string): Output {
  return { blocks: [textBlock(message)], isError: true };
}

async function convert(value: unknown): Promise<Output> {
  if (typeof value === 'string') return plain(value);
  if (typeof value !== 'object') return plain(scalar(value));
  if (value === null) return plain('null');
  if (value instanceof Error) return failure(thrownText(value));
  const bytes = bytesOf(value);
  if (bytes !== undefined) return fromBytes(bytes, undefined, undefined);
  if (value instanceof Blob) {
    if (value.size > MAX_MEDIA_BYTES) return failure(tooLarge(value.size));
    const name = 'name' in value && typeof value.name === 'string' ? value.name : undefined;
    return fromBytes(new Uint8Array(await value.arrayBuffer()), value.type === '' ? undefined : value.type, name);
  }
  const stream = streamKind(value);
  if (stream !== undefined)
    return failure(`The tool returned ${stream} instead of its content; nothing was read from it.`);
  if (isMcpResult(value)) return fromMcp(value);
  const { text, cut } = safeJson(value, MAX_OUTPUT_CHARS);
  const isError = 'isError' in value && value.isError === true;
  return { blocks: [textBlock(cut ? `${text}\n[cut after ${MAX_OUTPUT_CHARS} characters]` : text)], isError };
}

function plain(text: string): Output {
  return { blocks: [textBlock(text)], isError: false };
}

function scalar(value: unknown): string {
  switch (typeof value) {
    case 'undefined':
      return '(no output)';
    case 'function':
      return '(no output: the tool returned a function)';
    case 'symbol':
      return '(no output: the tool returned a symbol)';
    default:
      return String(value);
  }
}

function bytesOf(value: object): Uint8Array | undefined {
  if (value instanceof Uint8Array) return value;
  if (value instanceof Uint8ClampedArray || value instanceof DataView) {
    return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  }
  if (value instanceof ArrayBuffer || value instanceof SharedArrayBuffer) return new Uint8Array(value);
  // Arrays of other numbers hold numbers, not bytes; they go as JSON below.
  return undefined;
}

function fromBytes(bytes: Uint8Array, mediaType: string | undefined, name: string | undefined): Output {
  if (bytes.byteLength === 0) return plain('(no output: 0 bytes)');
  const text = mediaType === undefined || isPlainText(mediaType) ? utf8(bytes) : undefined;
  if (text !== undefined) return plain(text);
  if (bytes.byteLength > MAX_MEDIA_BYTES) return failure(tooLarge(bytes.byteLength));
  const type = mediaType ?? mediaTypeOf(bytes);
  return {
    blocks: [
      {
        type: mediaKind(type),
        mediaType: type,
        base64: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64'),
        ...(name === undefined ? {} : { name }),
      },
    ],
    isError: false,
  };
}

/** The text that the bytes are in UTF-8, or `undefined` when they are none. */
function utf8(bytes: Uint8Array): string | undefined {
  if (bytes.subarray(0, 8192).includes(0)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function streamKind(value: object): string | undefined {
  if (value instanceof ReadableStream) return 'a stream';
  if (value instanceof Response || value instanceof Request) return 'an HTTP message';
  if ('pipe' in value && typeof value.pipe === 'function') return 'a stream';
  if (Symbol.asyncIterator in value) return 'an asynchronous iterator';
  if ('next' in value && typeof value.next === 'function') return 'an iterator';
  return undefined;
}
