import type { Store } from '../../store/store.ts';
import { assertNever } from '../../transcript/assert-never.ts';
import type {
  AgentItem,
  ContentBlock,
  ItemKind,
  RefusalBlock,
  ToolResult,
  ToolResultBatch,
  TranscriptEntry,
} from '../../transcript/items.ts';
import { headOf } from '../../transcript/well-formed.ts';

/** Reads a range of a call's whole output; the store's `toolOutput`. */
export type ReadOutput = Pick<Store, 'toolOutput'>['toolOutput'];

/** A stretch of an item as text: at hand, or a whole output that lies in the store. Lengths in UTF-16 units. */
type Piece = { readonly text: string } | { readonly callId: string; readonly length: number };

/** What an item is called, told to the model itself. */
export const ITEM_TITLES: Readonly<Record<ItemKind, string>> = {
  user_message: 'user message',
  assistant_message: 'your message',
  tool_call_batch: 'your tool calls',
  tool_result_batch: 'tool results',
  reasoning_summary: 'your reasoning',
  builtin_tool_event: 'tool that the provider ran',
  compaction_summary: 'summary',
};

/** One item as plain text, whole tool outputs included, of which any range can be read without loading the rest. */
export interface ReadableItem {
  readonly length: number;
  /** At most `length` units from `start` on, never ending inside a surrogate pair. */
  read(start: number, length: number): Promise<string>;
}

/** @param names of the tools that were called, by call id. */
export async function readableItem(
  { item }: TranscriptEntry,
  names: ReadonlyMap<string, string>,
  sessionId: string,
  readOutput: ReadOutput,
): Promise<ReadableItem> {
  const pieces =
    item.kind === 'tool_result_batch'
      ? await resultPieces(item, names, sessionId, readOutput)
      : [{ text: plain(item) }];
  const length = pieces.reduce((sum, piece) => sum + lengthOf(piece), 0);
  return {
    length,
    async read(start, wanted) {
      const text = await rangeOf(pieces, start, start + wanted + 1, sessionId, readOutput);
      // One unit more than wanted tells whether the end would fall inside a pair.
      return headOf(text, wanted);
    },
  };
}

function lengthOf(piece: Piece): number {
  return 'text' in piece ? piece.text.length : piece.length;
}

async function rangeOf(
  pieces: readonly Piece[],
  start: number,
  end: number,
  sessionId: string,
  readOutput: ReadOutput,
): Promise<string> {
  let text = '';
  let at = 0;
  for (const piece of pieces) {
    const range = { start: Math.max(0, start - at), end: Math.min(lengthOf(piece), end - at) };
    at += lengthOf(piece);
    if (range.start >= range.end) continue;
    text +=
      'text' in piece
        ? piece.text.slice(range.start, range.end)
        : ((await readOutput(sessionId, piece.callId, range))?.text ?? '');
  }
  return text;
}

async function resultPieces(
  { results }: ToolResultBatch,
  names: ReadonlyMap<string, string>,
  sessionId: string,
  readOutput: ReadOutput,
): Promise<readonly Piece[]> {
  const pieces: Piece[] = [];
  for (const [index, result] of results.entries()) {
    const { callId, status } = result;
    pieces.push({ text: `${index === 0 ? '' : '\n'}${names.get(callId) ?? 'call'} ${callId}, ${status}:\n` });
    pieces.push(...(await outputPieces(result, sessionId, readOutput)));
  }
  return pieces;
}

/** The whole output where the item holds only a cut of it; media of the result stay as notes. */
async function outputPieces(
  { callId, content, fullOutput }: ToolResult,
  sessionId: string,
  readOutput: ReadOutput,
): Promise<readonly Piece[]> {
  const whole = fullOutput === undefined ? undefined : await readOutput(sessionId, callId, { start: 0, end: 0 });
  if (whole === undefined) return [{ text: blocksText(content) }];
  const media = blocksText(content.filter(({ type }) => type !== 'text'));
  return [{ callId, length: whole.total }, ...(media === '' ? [] : [{ text: `\n${media}` }])];
}

function plain(item: Exclude<AgentItem, ToolResultBatch>): string {
  switch (item.kind) {
    case 'user_message':
    case 'assistant_message':
      return blocksText(item.content);
    case 'tool_call_batch':
      return item.calls
        .map(
          ({ callId, name, arguments: args, rawArguments }) =>
            `${name} ${callId} ${rawArguments ?? JSON.stringify(args)}`,
        )
        .join('\n');
    case 'reasoning_summary':
    case 'compaction_summary':
      return item.text;
    case 'builtin_tool_event':
      return `${item.name}, ${item.phase}: ${JSON.stringify(item.payload)}`;
    default:
      return assertNever(item, 'item kind');
  }
}

function blocksText(blocks: readonly (ContentBlock | RefusalBlock)[]): string {
  return blocks.map(blockText).join('\n');
}

function blockText(block: ContentBlock | RefusalBlock): string {
  switch (block.type) {
    case 'text':
    case 'refusal':
      return block.text;
    case 'extension':
      return `[${block.name}] ${JSON.stringify(block.data)}`;
    case 'image':
    case 'audio':
    case 'file':
      return `[${block.type} ${block.media.name ?? block.media.mediaType}, ${block.media.byteLength} bytes]`;
    default:
      return assertNever(block, 'content block');
  }
}
