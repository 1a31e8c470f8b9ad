import { assertNever } from '../assert-never.ts';
import type { JsonObject } from '../json.ts';
import type { Block, Message, ToolResultBlock } from '../message.ts';
import { argumentsText } from './arguments.ts';
import type { ExportContext } from './context.ts';
import { CHAT_PART } from './openai-chat-import.ts';

/**
 * Writes Chat Completions messages. The format has no place for a result's status, thinking signatures or tools that a
 * provider ran: what goes is told. Arguments that could not be read go out as the text they were.
 */
export function writeChatMessages(messages: readonly Message[], context: ExportContext): JsonObject[] {
  return messages.flatMap((message, index): JsonObject[] => {
    const lose = (detail: string): void => context.lose?.({ index, detail });
    switch (message.role) {
      case 'system':
      case 'user':
        return [{ role: message.role, content: content(message.content, context, lose) }];
      case 'tool':
        return message.content.map((result) => resultMessage(result, context, lose));
      case 'assistant':
        return [assistantMessage(message.content, context, lose)];
      default:
        return assertNever(message, 'role');
    }
  });
}

type Lose = (detail: string) => void;

function resultMessage(result: ToolResultBlock, context: ExportContext, lose: Lose): JsonObject {
  if (result.status !== 'ok') lose(`status ${result.status} of result ${result.callId}`);
  return { role: 'tool', tool_call_id: result.callId, content: content(result.content, context, lose) };
}

function assistantMessage(blocks: readonly Block[], context: ExportContext, lose: Lose): JsonObject {
  const thinking = blocks.flatMap((block) => (block.type === 'thinking' ? [block] : []));
  if (thinking.some((block) => block.replay !== undefined)) lose('what a provider must get back with its thinking');
  const reasoning = thinking.map((block) => block.text).join('\n');
  const refusals = blocks.flatMap((block) => (block.type === 'refusal' ? [block.text] : []));
  const calls = blocks.flatMap((block) => (block.type === 'tool_use' ? [block] : []));
  const said = blocks.filter((block) => !['thinking', 'refusal', 'tool_use'].includes(block.type));
  return {
    role: 'assistant',
    ...(reasoning === '' ? {} : { reasoning_content: reasoning }),
    content: said.length === 0 ? null : content(said, context, lose),
    ...(refusals.length === 0 ? {} : { refusal: refusals.join('') }),
    ...(calls.length === 0
      ? {}
      : {
          tool_calls: calls.map((call) => ({
            id: call.callId,
            type: 'function',
            function: { name: call.name, arguments: argumentsText(call) },
          })),
        }),
  };
}

/** One text stands as a string, anything else as parts. */
function content(blocks: readonly Block[], context: ExportContext, lose: Lose): string | JsonObject[] {
  const [only, ...others] = blocks;
  if (only?.type === 'text' && others.length === 0) return only.text;
  const parts = blocks.flatMap((block) => part(block, context, lose));
  return parts.length === 0 ? '' : parts;
}

function part(block: Block, context: ExportContext, lose: Lose): JsonObject[] {
  switch (block.type) {
    case 'text':
      return [{ type: 'text', text: block.text }];
    case 'image':
    case 'audio':
    case 'file': {
      const base64 = context.media?.(block.media);
      if (base64 === undefined) {
        lose(`${block.type} of type ${block.media.mediaType}: its bytes are gone`);
        return [];
      }
      return [mediaPart(block, base64)];
    }
    case 'extension':
      if (block.name === CHAT_PART && typeof block.data === 'object' && block.data !== null)
        return [block.data as JsonObject];
      lose(`extension ${block.name}`);
      return [];
    default:
      lose(`${block.type} block`);
      return [];
  }
}

function mediaPart({ type, media }: Extract<Block, { type: 'image' | 'audio' | 'file' }>, base64: string): JsonObject {
  const url = `data:${media.mediaType};base64,${base64}`;
  if (type === 'image') return { type: 'image_url', image_url: { url } };
  if (type === 'audio')
    return { type: 'input_audio', input_audio: { data: base64, format: media.mediaType.replace(/^audio\//, '') } };
  return { type: 'file', file: { file_data: url, filename: media.name ?? 'file' } };
}
