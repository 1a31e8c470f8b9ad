import type { TextBlock } from '../items.ts';
import { isJsonObject, type Json, type JsonObject } from '../json.ts';
import type { Block, Message, ToolResultBlock } from '../message.ts';
import { readArguments } from './arguments.ts';
import { type CallIds, createCallIds } from './call-ids.ts';
import { type ImportContext, mediaRef, type Sourced } from './context.ts';

/** Name of the extension block that holds a content part which no block of ours can hold. */
export const CHAT_PART = 'openai_chat.part';

/** Keys of a message that an import understands. */
const KNOWN: Readonly<Record<string, readonly string[]>> = {
  system: ['role', 'content'],
  developer: ['role', 'content'],
  user: ['role', 'content'],
  assistant: ['role', 'content', 'tool_calls', 'refusal', 'reasoning_content', 'function_call'],
  tool: ['role', 'content', 'tool_call_id'],
  function: ['role', 'content', 'name'],
};

/**
 * Reads Chat Completions messages, whatever is wrong with their order: pairing is left to `normalize`. Neighbouring tool
 * messages become one. A message of an unknown role is lost, and told.
 */
export function readChatMessages(messages: readonly Json[], context: ImportContext): Sourced<Message>[] {
  const ids = createCallIds();
  const read: Sourced<Message>[] = [];
  messages.forEach((entry, index) => {
    const message = isJsonObject(entry) ? readMessage(entry, index, ids, context) : undefined;
    if (message === undefined) {
      context.lose?.({ index, detail: 'is no message' });
      return;
    }
    const last = read.at(-1);
    if (message.role === 'tool' && last?.value.role === 'tool') {
      read[read.length - 1] = {
        ...last,
        value: { role: 'tool', content: [...last.value.content, ...message.content] },
      };
    } else read.push({ value: message, index });
  });
  return read;
}

function readMessage(entry: JsonObject, index: number, ids: CallIds, context: ImportContext): Message | undefined {
  const role = typeof entry.role === 'string' ? entry.role : '';
  const known = Object.hasOwn(KNOWN, role) ? KNOWN[role] : undefined;
  if (known === undefined) return undefined;
  for (const key of Object.keys(entry)) {
    if (!known.includes(key) && entry[key] !== null)
      context.lose?.({ index, detail: `key ${key} of a ${role} message is not kept` });
  }
  switch (role) {
    case 'system':
    case 'developer':
      return { role: 'system', content: contentBlocks(entry.content, context) };
    case 'user':
      return { role: 'user', content: contentBlocks(entry.content, context) };
    case 'assistant':
      return { role: 'assistant', content: assistantBlocks(entry, index, ids, context) };
    default:
      return { role: 'tool', content: [resultBlock(entry, ids, context)] };
  }
}

function resultBlock(entry: JsonObject, ids: CallIds, context: ImportContext): ToolResultBlock {
  // Before tool calls there were functions, which had no ids: a result answers the call of that name.
  const nativeId = text(entry.role === 'function' ? entry.name : entry.tool_call_id);
  const callId = ids.answer(nativeId);
  const content = contentBlocks(entry.content, context).filter(
    (block) => block.type === 'text' || block.type === 'extension',
  );
  return { type: 'tool_result', callId, name: ids.nameOf(callId), status: 'ok', content };
}

function assistantBlocks(entry: JsonObject, index: number, ids: CallIds, context: ImportContext): Block[] {
  const blocks: Block[] = [];
  if (typeof entry.reasoning_content === 'string' && entry.reasoning_content !== '') {
    blocks.push({ type: 'thinking', text: entry.reasoning_content });
  }
  if (typeof entry.content !== 'string' || entry.content !== '') blocks.push(...contentBlocks(entry.content, context));
  if (typeof entry.refusal === 'string' && entry.refusal !== '') blocks.push({ type: 'refusal', text: entry.refusal });
  for (const call of Array.isArray(entry.tool_calls) ? (entry.tool_calls as readonly Json[]) : []) {
    if (isJsonObject(call)) blocks.push(callBlock(text(call.id), call.function ?? call.custom, index, ids));
  }
  if (isJsonObject(entry.function_call))
    blocks.push(callBlock(text(entry.function_call.name), entry.function_call, index, ids));
  return blocks;
}

function callBlock(nativeId: string, fn: Json | undefined, index: number, ids: CallIds): Block {
  const body = isJsonObject(fn) ? fn : {};
  const callId = ids.open(nativeId, index);
  const name = text(body.name);
  ids.named(callId, name);
  return { type: 'tool_use', callId, nativeId, name, ...readArguments(body.arguments ?? body.input) };
}

function contentBlocks(
  content: Json | undefined,
  context: ImportContext,
): (TextBlock | Exclude<Block, ToolResultBlock>)[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  if (!Array.isArray(content)) return [];
  return (content as readonly Json[]).map((part) => partBlock(part, context));
}

function partBlock(part: Json, context: ImportContext): Exclude<Block, ToolResultBlock> {
  if (isJsonObject(part)) {
    if (part.type === 'text' && typeof part.text === 'string') return { type: 'text', text: part.text };
    if (part.type === 'refusal' && typeof part.refusal === 'string') return { type: 'refusal', text: part.refusal };
    const media = mediaPart(part, context);
    if (media !== undefined) return media;
  }
  return { type: 'extension', name: CHAT_PART, data: part };
}

/** Media whose bytes are in the file. One that is named by address or id stays as it came. */
function mediaPart(part: JsonObject, context: ImportContext): Exclude<Block, ToolResultBlock> | undefined {
  const inner = part[text(part.type)];
  if (!isJsonObject(inner)) return undefined;
  if (part.type === 'image_url') {
    const inline = /^data:([^;,]+);base64,(.*)$/s.exec(text(inner.url));
    if (inline === null || (inner.detail !== undefined && inner.detail !== 'auto')) return undefined;
    return { type: 'image', media: mediaRef(context, inline[2] ?? '', inline[1] ?? '') };
  }
  if (part.type === 'input_audio') {
    return { type: 'audio', media: mediaRef(context, text(inner.data), `audio/${text(inner.format)}`) };
  }
  const inline = /^data:([^;,]+);base64,(.*)$/s.exec(text(inner.file_data));
  if (part.type !== 'file' || inline === null) return undefined;
  return { type: 'file', media: mediaRef(context, inline[2] ?? '', inline[1] ?? '', text(inner.filename)) };
}

function text(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}
