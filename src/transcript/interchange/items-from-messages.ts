import type { AgentItem, Api, AssistantMessage, ContentBlock, ResponseRef, ToolCall } from '../items.ts';
import type { Block, Message, ToolUseBlock } from '../message.ts';
import type { Sourced } from './context.ts';

/** Items of an imported conversation, and the text of its system prompts, which are no items. */
export interface ImportedItems {
  readonly items: readonly Sourced<AgentItem>[];
  readonly system: readonly string[];
}

/**
 * The way back from messages to items: what `toMessages` undoes. Each assistant message becomes one response of its own;
 * the model that made it is not known.
 */
export function itemsFromMessages(messages: readonly Sourced<Message>[], api: Api): ImportedItems {
  const items: Sourced<AgentItem>[] = [];
  const system: string[] = [];
  let answers = 0;
  for (const { value, index } of messages) {
    const add = (item: AgentItem): void => void items.push({ value: item, index });
    switch (value.role) {
      case 'system':
        system.push(value.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n\n'));
        break;
      case 'user':
        add({ kind: 'user_message', schemaVersion: 1, origin: 'user', content: value.content.filter(isContent) });
        break;
      case 'tool':
        add({
          kind: 'tool_result_batch',
          schemaVersion: 1,
          results: value.content.map(({ callId, status, content }) => ({ callId, status, content })),
        });
        break;
      default:
        answers += 1;
        for (const item of responseItems(value.content, {
          id: `imported-${answers}`,
          provider: 'import',
          model: 'unknown',
          api,
        }))
          add(item);
    }
  }
  return { items, system };
}

function isContent(block: Block): block is ContentBlock {
  return ['text', 'image', 'audio', 'file', 'extension'].includes(block.type);
}

/** Parts of one answer, numbered in the order in which they stood; the batch is last. */
function responseItems(blocks: readonly Block[], response: ResponseRef): AgentItem[] {
  const items: AgentItem[] = [];
  const calls: ToolCall[] = [];
  for (const [part, block] of blocks.entries()) {
    switch (block.type) {
      case 'text':
      case 'refusal':
      case 'extension':
        pushContent(items, response, { ...block, part });
        break;
      case 'thinking': {
        const { type: _, ...thinking } = block;
        items.push({ kind: 'reasoning_summary', schemaVersion: 1, response, ...thinking, part });
        break;
      }
      case 'builtin_tool': {
        const { type: _, ...event } = block;
        items.push({ kind: 'builtin_tool_event', schemaVersion: 1, response, ...event, part });
        break;
      }
      case 'tool_use':
        calls.push(callOf(block, part));
        break;
      default:
        // Media that a model made: kept whole, under its own name.
        pushContent(items, response, { type: 'extension', name: block.type, data: { ...block } as never, part });
    }
  }
  if (calls.length > 0) items.push({ kind: 'tool_call_batch', schemaVersion: 1, response, calls });
  return items;
}

/** Neighbouring texts are one message. */
function pushContent(items: AgentItem[], response: ResponseRef, block: AssistantMessage['content'][number]): void {
  const last = items.at(-1);
  if (last?.kind === 'assistant_message') items[items.length - 1] = { ...last, content: [...last.content, block] };
  else items.push({ kind: 'assistant_message', schemaVersion: 1, response, content: [block] });
}

function callOf({ callId, nativeId, name, input, rawInput, replay }: ToolUseBlock, part: number): ToolCall {
  const unreadable =
    rawInput === undefined
      ? {}
      : { rawArguments: rawInput, argumentsError: 'The imported arguments are no JSON object.' };
  return { callId, nativeId, name, arguments: input, part, ...unreadable, ...(replay === undefined ? {} : { replay }) };
}
