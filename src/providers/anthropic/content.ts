import type Anthropic from '@anthropic-ai/sdk';
import { assertNever } from '../../transcript/assert-never.ts';
import type { AudioBlock, FileBlock, ImageBlock, ReplayScope, TextBlock } from '../../transcript/items.ts';
import type { Json, JsonObject } from '../../transcript/json.ts';
import type { Block, BuiltinToolBlock, Message, ToolResultBlock, ToolUseBlock } from '../../transcript/message.ts';
import { inScope } from '../../transcript/replay-scope.ts';
import { wellFormed } from '../../transcript/well-formed.ts';
import { wireName } from '../../transcript/wire-name.ts';
import { type MediaContext, mediaOrNote } from '../media-or-note.ts';
import { builtinNote, extensionText, NO_OUTPUT } from '../stand-ins.ts';
import { replayedThinking } from './thinking.ts';

export type WireBlock = Anthropic.Messages.ContentBlockParam;
type ResultContent =
  | Anthropic.Messages.TextBlockParam
  | Anthropic.Messages.ImageBlockParam
  | Anthropic.Messages.DocumentBlockParam;

/** What the conversion of a block depends on, beside the block. */
export interface ContentContext extends MediaContext {
  readonly scope: ReplayScope;
  readonly unsignedThinking: 'drop' | 'replay';
  readonly callIds: ReadonlyMap<string, string>;
  /** Ids of builtin calls that go back, each with its result or as the paused end of the conversation. */
  readonly builtinIds: ReadonlySet<string>;
}

/** One message's blocks in wire form; blank texts and what cannot go are left out. Index is for loss reports. */
export function wireBlocks(message: Message, index: number, context: ContentContext): readonly WireBlock[] {
  return message.content.flatMap((block) => wireBlock(block, message, index, context));
}

function wireBlock(block: Block, message: Message, index: number, context: ContentContext): readonly WireBlock[] {
  switch (block.type) {
    case 'text':
      return textBlock(block, context.scope);
    case 'refusal':
      return plainText(block.text);
    case 'image':
    case 'audio':
    case 'file':
      return [mediaBlock(block, index, context)];
    case 'thinking': {
      const data = block.replay !== undefined && inScope(block.replay, context.scope) ? block.replay.data : undefined;
      const thinking = replayedThinking(block, data, context.unsignedThinking);
      if (thinking === undefined)
        context.lose({ code: 'reasoning', message: index, detail: 'thinking without a valid signature' });
      return thinking === undefined ? [] : [thinking];
    }
    case 'tool_use':
      return [toolUse(block, context)];
    case 'tool_result':
      return toolResult(block, index, context);
    case 'builtin_tool':
      return builtinBlock(block, message, index, context);
    case 'extension':
      return plainText(extensionText(block));
    default:
      return assertNever(block, 'block type');
  }
}

/** Empty and blank texts are refused by the server, a single space too. */
function plainText(text: string): readonly Anthropic.Messages.TextBlockParam[] {
  return text.trim() === '' ? [] : [{ type: 'text', text: wellFormed(text) }];
}

/** Citations go back with the text they belong to: search results are quoted by an encrypted index in them. */
function textBlock(block: TextBlock, scope: ReplayScope): readonly WireBlock[] {
  const [text] = plainText(block.text);
  if (text === undefined) return [];
  const citations =
    block.replay !== undefined && inScope(block.replay, scope) ? block.replay.data.citations : undefined;
  if (!Array.isArray(citations) || citations.length === 0) return [text];
  return [{ ...text, citations: citations as unknown as Anthropic.Messages.TextCitationParam[] }];
}

function toolUse(block: ToolUseBlock, context: ContentContext): WireBlock {
  return {
    type: 'tool_use',
    id: context.callIds.get(block.callId) ?? block.callId,
    name: wireName(block.name),
    input: block.input,
  };
}

function toolResult(block: ToolResultBlock, index: number, context: ContentContext): readonly WireBlock[] {
  const id = context.callIds.get(block.callId);
  if (id === undefined) {
    context.lose({ code: 'orphan_result', message: index, detail: `result of ${block.name} without its call` });
    return [];
  }
  const content = block.content.flatMap((part): readonly ResultContent[] => {
    if (part.type === 'text') return plainText(part.text);
    if (part.type === 'extension') return plainText(extensionText(part));
    return [mediaBlock(part, index, context)];
  });
  return [
    {
      type: 'tool_result',
      tool_use_id: id,
      content: content.length === 0 ? [{ type: 'text', text: NO_OUTPUT }] : content,
      ...(block.status === 'ok' ? {} : { is_error: true }),
    },
  ];
}

function mediaBlock(block: ImageBlock | AudioBlock | FileBlock, index: number, context: ContentContext): ResultContent {
  const { media } = block;
  const sent = mediaOrNote(block, index, context);
  if ('note' in sent) return { type: 'text', text: sent.note };
  const { base64 } = sent;
  if (block.type === 'image') {
    const media_type = media.mediaType as Anthropic.Messages.Base64ImageSource['media_type'];
    return { type: 'image', source: { type: 'base64', media_type, data: base64 } };
  }
  const title = media.name === undefined ? {} : { title: media.name };
  if (media.mediaType === 'application/pdf') {
    return { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: base64 }, ...title };
  }
  const data = wellFormed(Buffer.from(base64, 'base64').toString('utf8'));
  return { type: 'document', source: { type: 'text', media_type: 'text/plain', data }, ...title };
}

/** A tool that Anthropic ran goes back as it came, whole pairs only; one that another provider ran becomes a note. */
function builtinBlock(
  block: BuiltinToolBlock,
  message: Message,
  index: number,
  context: ContentContext,
): readonly WireBlock[] {
  const ours = isNativeBuiltin(block, message, context.scope);
  if (ours && context.builtinIds.has(block.nativeId)) return [block.payload as unknown as WireBlock];
  const detail = ours ? `${block.name} without its other half` : `${block.name} was run by another provider`;
  context.lose({ code: 'builtin_tool', message: index, detail });
  return ours ? [] : plainText(builtinNote(block));
}

/** Whether this server made the block, so that its payload is a block of this wire. */
export function isNativeBuiltin(block: BuiltinToolBlock, message: Message, scope: ReplayScope): boolean {
  if (message.role !== 'assistant' || message.response?.api !== 'anthropic') return false;
  if (block.replay !== undefined && !inScope(block.replay, scope)) return false;
  return isTyped(block.payload);
}

function isTyped(payload: Json): payload is JsonObject {
  return typeof payload === 'object' && payload !== null && 'type' in payload && typeof payload.type === 'string';
}
