import type { ContentBlock } from '../transcript/items.ts';
import { MAX_MEDIA_BYTES, MAX_OUTPUT_CHARS, mediaKind, type Output, textBlock, tooLarge } from './output-block.ts';
import { safeJson } from './safe-json.ts';
import type { ToolOutputBlock } from './tool.ts';

const MAX_BLOCKS = 1000;

type Block = Readonly<Record<string, unknown>> & { readonly type: string };

/** MCP's `CallToolResult`, also with our own blocks; see the MCP specification, "Tool result". */
interface McpResult {
  readonly content: readonly Block[];
  readonly isError?: unknown;
  readonly structuredContent?: unknown;
}

const KEYS: ReadonlySet<string> = new Set(['content', 'isError', 'structuredContent', '_meta']);

/** Whether an object is such a result and nothing else: one with a title beside its `content` is somebody's data. */
export function isMcpResult(value: object): value is McpResult {
  if (!('content' in value) || !Array.isArray(value.content)) return false;
  const blocks = value.content.every((one) => typeof one === 'object' && one !== null && typeof one.type === 'string');
  return blocks && Object.keys(value).every((key) => KEYS.has(key));
}

/** Blocks and error flag of a result. */
export function fromMcp({ content, isError: flag, structuredContent: structured }: McpResult): Output {
  const isError = flag === true;
  const blocks = content.slice(0, MAX_BLOCKS).map(mcpBlock);
  if (content.length > MAX_BLOCKS) blocks.push(textBlock(`[${content.length - MAX_BLOCKS} more blocks were cut]`));
  if (blocks.length > 0) return { blocks, isError };
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
