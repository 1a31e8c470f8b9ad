import type { ContentBlock } from '../transcript/items.ts';
import { isPlainText, mediaTypeOf } from './media-type.ts';
import { safeJson } from './safe-json.ts';
import { thrownText } from './thrown-text.ts';
import type { ToolOutputBlock } from './tool.ts';

/** UTF-16 units of text that one result may hold (as many bytes and more once stored); the rest is cut out of its middle. */
export const MAX_OUTPUT_CHARS: number = 64 * 1024 * 1024;
/** Bytes of one image or file. */
export const MAX_MEDIA_BYTES: number = 32 * 1024 * 1024;
const MAX_BLOCKS = 1000;

/** What a tool's return value means to the model. */
export interface Output {
  /** At least one block; texts are never empty. */
  readonly blocks: readonly ToolOutputBlock[];
  readonly isError: boolean;
}

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
  if ('content' in value && isBlockList(value.content)) return fromMcp(value, value.content);
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

/** A text block any provider and database takes: not blank, no lone surrogates, no NUL, within the limit. */
export function textBlock(text: string): ContentBlock {
  const clean = middleCut(text).replace(/\p{Surrogate}|\0/gu, '\uFFFD');
  return { type: 'text', text: clean.trim() === '' ? '(no output)' : clean };
}

function middleCut(text: string): string {
  if (text.length <= MAX_OUTPUT_CHARS) return text;
  const half = MAX_OUTPUT_CHARS / 2;
  return `${text.slice(0, half)}\n[… ${text.length - 2 * half} characters cut …]\n${text.slice(-half)}`;
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

function tooLarge(byteLength: number): string {
  return `The tool returned ${byteLength} bytes; at most ${MAX_MEDIA_BYTES} are kept. Nothing of it is shown.`;
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

function mediaKind(mediaType: string): 'image' | 'audio' | 'file' {
  if (mediaType.startsWith('image/')) return 'image';
  return mediaType.startsWith('audio/') ? 'audio' : 'file';
}

function streamKind(value: object): string | undefined {
  if (value instanceof ReadableStream) return 'a stream';
  if (value instanceof Response || value instanceof Request) return 'an HTTP message';
  if ('pipe' in value && typeof value.pipe === 'function') return 'a stream';
  if (Symbol.asyncIterator in value) return 'an asynchronous iterator';
  if ('next' in value && typeof value.next === 'function') return 'an iterator';
  return undefined;
}

type Block = Readonly<Record<string, unknown>> & { readonly type: string };

function isBlockList(content: unknown): content is readonly Block[] {
  return (
    Array.isArray(content) &&
    content.every((one) => typeof one === 'object' && one !== null && typeof one.type === 'string')
  );
}

/** MCP's `CallToolResult` and our own blocks; see the MCP specification, "Tool result". */
function fromMcp(result: object, content: readonly Block[]): Output {
  const isError = 'isError' in result && result.isError === true;
  const blocks = content.slice(0, MAX_BLOCKS).map(mcpBlock);
  if (content.length > MAX_BLOCKS) blocks.push(textBlock(`[${content.length - MAX_BLOCKS} more blocks were cut]`));
  if (blocks.length > 0) return { blocks, isError };
  const structured = 'structuredContent' in result ? result.structuredContent : undefined;
  const text = structured === undefined ? '' : safeJson(structured, MAX_OUTPUT_CHARS).text;
  return { blocks: [textBlock(text === '' && isError ? 'The tool failed without saying why.' : text)], isError };
}

function mcpBlock(block: Block): ToolOutputBlock {
  switch (block.type) {
    case 'text':
      return textBlock(typeof block.text === 'string' ? block.text : '');
    case 'image':
    case 'audio':
    case 'file':
      return media(block.type, block) ?? asJson(block);
    case 'resource':
      return resource(block.resource) ?? asJson(block);
    case 'extension':
      return 'data' in block && typeof block.name === 'string' ? (block as unknown as ContentBlock) : asJson(block);
    default:
      // Not ours to rule on: MCP grows this list.
      return asJson(block);
  }
}

function media(
  type: 'image' | 'audio' | 'file',
  block: Readonly<Record<string, unknown>>,
): ToolOutputBlock | undefined {
  if (isStored(block.media)) return { type, media: block.media } as ContentBlock;
  const base64 = block.base64 ?? block.data;
  const mediaType = block.mediaType ?? block.mimeType;
  if (typeof base64 !== 'string' || typeof mediaType !== 'string') return undefined;
  const bytes = Math.floor((base64.length * 3) / 4);
  if (bytes > MAX_MEDIA_BYTES) return textBlock(tooLarge(bytes));
  return { type, mediaType, base64, ...(typeof block.name === 'string' ? { name: block.name } : {}) };
}

function isStored(media: unknown): boolean {
  return typeof media === 'object' && media !== null && 'sha256' in media && 'byteLength' in media;
}

function resource(given: unknown): ToolOutputBlock | undefined {
  if (typeof given !== 'object' || given === null) return undefined;
  const { uri, text, blob, mimeType } = given as Readonly<Record<string, unknown>>;
  if (typeof text === 'string') return textBlock(typeof uri === 'string' ? `${uri}\n${text}` : text);
  if (typeof blob !== 'string') return undefined;
  const mediaType = typeof mimeType === 'string' ? mimeType : 'application/octet-stream';
  return media(mediaKind(mediaType), { base64: blob, mediaType, ...(typeof uri === 'string' ? { name: uri } : {}) });
}

function asJson(block: Block): ContentBlock {
  return textBlock(safeJson(block, MAX_OUTPUT_CHARS).text);
}
