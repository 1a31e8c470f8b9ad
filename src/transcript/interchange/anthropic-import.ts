import type { Replay } from '../items.ts';
import { isJsonObject, type Json, type JsonObject } from '../json.ts';
import type { Block, Message, ToolResultBlock } from '../message.ts';
import { readArguments } from './arguments.ts';
import { type CallIds, createCallIds } from './call-ids.ts';
import { IMPORT_SCOPE, type ImportContext, mediaRef, type Sourced } from './context.ts';

/** Name of the extension block that holds a content block which no block of ours can hold. */
export const ANTHROPIC_BLOCK = 'anthropic.block';

type Plain = Exclude<Block, ToolResultBlock>;

/**
 * Reads a message list of the Messages API. Results, which travel in user messages there, become tool messages of their
 * own; what else such a message says follows. Cache marks are no part of a conversation and go without a word.
 */
export function readAnthropicMessages(messages: readonly Json[], context: ImportContext): Sourced<Message>[] {
  const ids = createCallIds();
  return messages.flatMap((entry, index) => {
    if (!isJsonObject(entry) || (entry.role !== 'user' && entry.role !== 'assistant')) {
      context.lose?.({ index, detail: 'is no message' });
      return [];
    }
    const blocks = readContent(entry.content, index, ids, context);
    const results = blocks.filter((block) => block.type === 'tool_result');
    const rest = blocks.filter((block): block is Plain => block.type !== 'tool_result');
    const tool: Message[] = results.length === 0 ? [] : [{ role: 'tool', content: results }];
    const said: Message[] = rest.length === 0 && results.length > 0 ? [] : [{ role: entry.role, content: rest }];
    // Results that an assistant message embeds stand behind what called for them.
    const order = entry.role === 'user' ? [...tool, ...said] : [...said, ...tool];
    return order.map((value) => ({ value, index }));
  });
}

/** The system field: text, or a list of text blocks. */
export function readAnthropicSystem(system: Json | undefined): Message[] {
  if (typeof system === 'string')
    return system === '' ? [] : [{ role: 'system', content: [{ type: 'text', text: system }] }];
  if (!Array.isArray(system)) return [];
  const texts = (system as readonly Json[]).flatMap((block) =>
    isJsonObject(block) && typeof block.text === 'string' ? [block.text] : [],
  );
  return texts.length === 0
    ? []
    : [{ role: 'system', content: texts.map((text) => ({ type: 'text' as const, text })) }];
}

function readContent(content: Json | undefined, index: number, ids: CallIds, context: ImportContext): Block[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  if (!Array.isArray(content)) {
    context.lose?.({ index, detail: 'has no content' });
    return [];
  }
  return (content as readonly Json[]).map((block) =>
    isJsonObject(block)
      ? readBlock(block, index, ids, context)
      : { type: 'extension', name: ANTHROPIC_BLOCK, data: block },
  );
}

function readBlock(block: JsonObject, index: number, ids: CallIds, context: ImportContext): Block {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: text(block.text) };
    case 'thinking':
      return { type: 'thinking', text: text(block.thinking), ...replay({ signature: text(block.signature) }, context) };
    case 'redacted_thinking':
      return { type: 'thinking', text: '', ...replay({ redacted: text(block.data) }, context) };
    case 'tool_use': {
      const nativeId = text(block.id);
      const callId = ids.open(nativeId, index);
      ids.named(callId, text(block.name));
      return { type: 'tool_use', callId, nativeId, name: text(block.name), ...readArguments(block.input) };
    }
    case 'tool_result':
      return resultBlock(block, index, ids, context);
    default:
      return (
        mediaBlock(block, context) ??
        builtinBlock(block, context) ?? { type: 'extension', name: ANTHROPIC_BLOCK, data: block }
      );
  }
}

function replay(data: JsonObject, { scope = IMPORT_SCOPE }: ImportContext): { readonly replay: Replay } {
  return { replay: { scope, data } };
}

function resultBlock(block: JsonObject, index: number, ids: CallIds, context: ImportContext): ToolResultBlock {
  const callId = ids.answer(text(block.tool_use_id));
  const content =
    typeof block.content === 'string'
      ? [{ type: 'text' as const, text: block.content }]
      : innerBlocks(block.content, index, ids, context);
  return {
    type: 'tool_result',
    callId,
    name: ids.nameOf(callId),
    status: block.is_error === true ? 'error' : 'ok',
    content,
  };
}

function innerBlocks(
  content: Json | undefined,
  index: number,
  ids: CallIds,
  context: ImportContext,
): ToolResultBlock['content'] {
  if (!Array.isArray(content)) return [];
  return (content as readonly Json[]).map((inner) => {
    const block = isJsonObject(inner) ? readBlock(inner, index, ids, context) : undefined;
    if (block?.type === 'text' || block?.type === 'image' || block?.type === 'file') return block;
    return { type: 'extension', name: ANTHROPIC_BLOCK, data: inner };
  });
}

/** Media whose bytes are in the file; others stay as they came. */
function mediaBlock(block: JsonObject, context: ImportContext): Block | undefined {
  const { source } = block;
  if (!isJsonObject(source) || source.type !== 'base64') return undefined;
  const media = mediaRef(
    context,
    text(source.data),
    text(source.media_type),
    typeof block.title === 'string' ? block.title : undefined,
  );
  if (block.type === 'image') return { type: 'image', media };
  return block.type === 'document' ? { type: 'file', media } : undefined;
}

/** Calls and results of tools that the server ran, kept whole as the adapter does. */
function builtinBlock(block: JsonObject, context: ImportContext): Block | undefined {
  const type = text(block.type);
  const native = replay({ native: true }, context);
  if (type.endsWith('_tool_use')) {
    return {
      type: 'builtin_tool',
      phase: 'call',
      nativeId: text(block.id),
      name: text(block.name),
      payload: block,
      ...native,
    };
  }
  if (!type.endsWith('_tool_result')) return undefined;
  const name = type.slice(0, -'_tool_result'.length);
  return { type: 'builtin_tool', phase: 'result', nativeId: text(block.tool_use_id), name, payload: block, ...native };
}

function text(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}
