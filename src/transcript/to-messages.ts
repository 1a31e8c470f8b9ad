import { assertNever } from './assert-never.ts';
import type {
  AgentItem,
  AssistantMessage,
  BuiltinToolEvent,
  ReasoningSummary,
  ReplayScope,
  ToolCall,
  ToolCallBatch,
  ToolResultBatch,
} from './items.ts';
import type { AssistantTurnMessage, Block, Message, ToolMessage, ToolUseBlock } from './message.ts';
import { inScope } from './replay-scope.ts';
import { runEnd } from './response-runs.ts';

export interface ToMessagesOptions {
  /** Where the request goes: replay data of any other place is left out. Absent: all of it stays, adapters decide. */
  readonly target?: ReplayScope;
}

/** Stands before the text of a summary, so that no model takes it for a wish of the user, or imitates calls that it tells of. */
const SUMMARY_HEADING =
  'Summary of the conversation so far:\n(Told by a program. Calls that it tells of are history: they were made, and nothing here is a form to call tools by. [#12] cites item 12 of the transcript.)';

/**
 * The one way from items to a request. Takes a valid transcript (see `normalize`), so that every call has its result in
 * the next message and no result is without its call.
 *
 * Neighbours with one response id become one assistant message, their parts in native order; a batch's results become one
 * tool message. Texts stay as they are, empty ones too: what a wire cannot take is its adapter's business. Linear.
 */
export function toMessages(items: readonly AgentItem[], options: ToMessagesOptions = {}): readonly Message[] {
  const messages: Message[] = [];
  for (let index = 0; index < items.length; ) {
    const item = items[index];
    if (item === undefined) break;
    const end = runEnd(items, index);
    messages.push(messageOf(item, items, index, end, options.target));
    index = end;
  }
  return messages;
}

function messageOf(
  item: AgentItem,
  items: readonly AgentItem[],
  start: number,
  end: number,
  target: ReplayScope | undefined,
): Message {
  switch (item.kind) {
    case 'user_message':
      return { role: 'user', content: item.content };
    case 'compaction_summary':
      return { role: 'user', content: [{ type: 'text', text: `${SUMMARY_HEADING}\n\n${item.text}` }] };
    case 'tool_result_batch':
      return toolMessage(item, items[start - 1]);
    case 'assistant_message':
    case 'tool_call_batch':
    case 'reasoning_summary':
    case 'builtin_tool_event':
      return responseMessage(item, items, start, end, target);
    default:
      return assertNever(item, 'item kind');
  }
}

function toolMessage(item: ToolResultBatch, before: AgentItem | undefined): ToolMessage {
  const calls = before?.kind === 'tool_call_batch' ? before.calls : [];
  const content = item.results.map(({ callId, status, content: blocks }, ordinal) => {
    const call = calls[ordinal]?.callId === callId ? calls[ordinal] : calls.find((one) => one.callId === callId);
    return { type: 'tool_result' as const, callId, name: call?.name ?? '', status, content: blocks };
  });
  return { role: 'tool', content };
}

type ResponseItem = AssistantMessage | ToolCallBatch | ReasoningSummary | BuiltinToolEvent;

function responseMessage(
  first: ResponseItem,
  items: readonly AgentItem[],
  start: number,
  end: number,
  target: ReplayScope | undefined,
): AssistantTurnMessage {
  const blocks: Block[] = [];
  for (let index = start; index < end; index += 1) {
    const item = items[index];
    if (item !== undefined) blocks.push(...blocksOf(item));
  }
  const kept = target === undefined ? blocks : blocks.map((block) => withinScope(block, target));
  return { role: 'assistant', content: inNativeOrder(kept), response: first.response };
}

function blocksOf(item: AgentItem): readonly Block[] {
  switch (item.kind) {
    case 'assistant_message':
      return item.content;
    case 'tool_call_batch':
      return item.calls.map(toolUse);
    case 'reasoning_summary': {
      const { kind: _, schemaVersion: __, response: ___, ...thinking } = item;
      return [{ type: 'thinking', ...thinking }];
    }
    case 'builtin_tool_event': {
      const { kind: _, schemaVersion: __, response: ___, ...event } = item;
      return [{ type: 'builtin_tool', ...event }];
    }
    case 'user_message':
    case 'tool_result_batch':
    case 'compaction_summary':
      return [];
    default:
      return assertNever(item, 'item kind');
  }
}

function toolUse(call: ToolCall): ToolUseBlock {
  const { arguments: input, rawArguments, argumentsError: _, ...rest } = call;
  return { type: 'tool_use', ...rest, input, ...(rawArguments === undefined ? {} : { rawInput: rawArguments }) };
}

function withinScope(block: Block, target: ReplayScope): Block {
  if (!('replay' in block) || block.replay === undefined || inScope(block.replay, target)) return block;
  const { replay: _, ...rest } = block;
  return rest;
}

/**
 * Sorts by `part`; a block without one (an import) stays right behind the block before it. Calls keep the order of their
 * batch, whatever their parts say: their results follow in that order.
 */
function inNativeOrder(blocks: readonly Block[]): readonly Block[] {
  let part = -1;
  let lastCall = -1;
  const keys = blocks.map((block) => {
    if ('part' in block && block.part !== undefined) part = block.part;
    if (block.type !== 'tool_use') return part;
    lastCall = Math.max(lastCall, part);
    return lastCall;
  });
  if (keys.every((key, index) => index === 0 || key >= (keys[index - 1] ?? key))) return blocks;
  return blocks
    .map((block, index) => ({ block, key: keys[index] ?? 0, index }))
    .sort((left, right) => left.key - right.key || left.index - right.index)
    .map(({ block }) => block);
}
