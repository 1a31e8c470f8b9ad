import { isJsonObject, type JsonObject } from '../json.ts';
import type { Block, Message, ToolResultBlock } from '../message.ts';
import { ANTHROPIC_BLOCK } from './anthropic-import.ts';
import type { ExportContext } from './context.ts';

/** A conversation as the Messages API has it. */
export interface AnthropicConversation {
  readonly system?: string;
  readonly messages: readonly JsonObject[];
}

type Lose = (detail: string) => void;

/**
 * Writes a message list of the Messages API: results in user messages, together with what the user says next; roles in
 * turn. Thinking goes with its signature where it has one of this format; other thinking goes, and is told.
 */
export function writeAnthropicMessages(messages: readonly Message[], context: ExportContext): AnthropicConversation {
  const turns: { role: 'user' | 'assistant'; content: JsonObject[] }[] = [];
  const system: string[] = [];
  messages.forEach((message, index) => {
    const lose = (detail: string): void => context.lose?.({ index, detail });
    if (message.role === 'system') {
      system.push(...message.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])));
      return;
    }
    const role = message.role === 'assistant' ? 'assistant' : 'user';
    const content = message.content.flatMap((block) => writeBlock(block, context, lose));
    const last = turns.at(-1);
    if (last?.role === role) last.content.push(...content);
    else if (content.length > 0) turns.push({ role, content });
  });
  const list = turns.map(({ role, content }) => ({ role, content: compact(content) }));
  return system.length === 0 ? { messages: list } : { system: system.join('\n\n'), messages: list };
}

/** One plain text stands as a string, as people write it. */
function compact(content: readonly JsonObject[]): string | readonly JsonObject[] {
  const [only, ...others] = content;
  return only?.type === 'text' && others.length === 0 && typeof only.text === 'string' ? only.text : content;
}

function writeBlock(block: Block, context: ExportContext, lose: Lose): JsonObject[] {
  switch (block.type) {
    case 'text':
      return [{ type: 'text', text: block.text }];
    case 'refusal':
      lose('the mark that a text is a refusal');
      return [{ type: 'text', text: block.text }];
    case 'thinking':
      return thinkingBlock(block, lose);
    case 'tool_use':
      if (block.rawInput !== undefined) lose(`unreadable arguments of call ${block.callId}`);
      return [{ type: 'tool_use', id: block.callId, name: block.name, input: block.input }];
    case 'tool_result':
      return [resultBlock(block, context, lose)];
    case 'builtin_tool':
      if (isJsonObject(block.payload) && /_tool_(use|result)$/.test(String(block.payload.type))) return [block.payload];
      lose(`${block.name}, which another provider ran`);
      return [];
    case 'extension':
      if (block.name === ANTHROPIC_BLOCK && isJsonObject(block.data)) return [block.data];
      lose(`extension ${block.name}`);
      return [];
    default:
      return mediaBlock(block, context, lose);
  }
}

function thinkingBlock({ text, replay }: Extract<Block, { type: 'thinking' }>, lose: Lose): JsonObject[] {
  const data = replay?.data;
  if (typeof data?.redacted === 'string') return [{ type: 'redacted_thinking', data: data.redacted }];
  if (typeof data?.signature === 'string') return [{ type: 'thinking', thinking: text, signature: data.signature }];
  lose('thinking without a signature');
  return [];
}

function resultBlock(result: ToolResultBlock, context: ExportContext, lose: Lose): JsonObject {
  if (result.status !== 'ok' && result.status !== 'error') lose(`status ${result.status} of result ${result.callId}`);
  return {
    type: 'tool_result',
    tool_use_id: result.callId,
    content: compact(result.content.flatMap((block) => writeBlock(block, context, lose))),
    ...(result.status === 'ok' ? {} : { is_error: true }),
  };
}

function mediaBlock(
  { type, media }: Extract<Block, { type: 'image' | 'audio' | 'file' }>,
  context: ExportContext,
  lose: Lose,
): JsonObject[] {
  const data = type === 'audio' ? undefined : context.media?.(media);
  if (data === undefined) {
    lose(
      type === 'audio'
        ? 'audio, which this format has no place for'
        : `${type} of type ${media.mediaType}: its bytes are gone`,
    );
    return [];
  }
  const source = { type: 'base64', media_type: media.mediaType, data };
  if (type === 'image') return [{ type: 'image', source }];
  return [{ type: 'document', source, ...(media.name === undefined ? {} : { title: media.name }) }];
}
