import { createHash } from 'node:crypto';
import type OpenAI from 'openai';
import type { ReplayScope, ResponsePart } from '../../transcript/items.ts';
import type { JsonObject } from '../../transcript/json.ts';
import type {
  AssistantTurnMessage,
  Block,
  BuiltinToolBlock,
  Message,
  ThinkingBlock,
  ToolUseBlock,
} from '../../transcript/message.ts';
import { inScope } from '../../transcript/replay-scope.ts';
import { wellFormed } from '../../transcript/well-formed.ts';
import { wireName } from '../../transcript/wire-name.ts';
import { builtinNote, extensionText } from '../stand-ins.ts';
import type { WireLoss } from '../wire-loss.ts';
import { itemId, textsOf } from './replay-data.ts';

export type InputItem = OpenAI.Responses.ResponseInputItem;

export interface AssistantContext {
  readonly scope: ReplayScope;
  /** Id of the provider in the registry: its own reasoning text may go back to it. */
  readonly provider: string;
  readonly reasoning: 'encrypted' | 'text';
  readonly store: boolean;
  /** Ids on the wire by our call ids. */
  readonly callIds: ReadonlyMap<string, string>;
  /** Our ids of free-form calls, see {@link customCalls}. */
  readonly custom: ReadonlySet<string>;
  readonly lose: (loss: WireLoss) => void;
}

/**
 * One response as input items, in native order.
 *
 * Reasoning that nothing of its response follows is left out ("reasoning was provided without its required following
 * item"), and ids of messages and calls go only where all reasoning of their response goes too ("function_call was provided
 * without its required reasoning item"), or where the server keeps items anyway.
 */
export function assistantItems(
  message: AssistantTurnMessage,
  index: number,
  context: AssistantContext,
): readonly InputItem[] {
  const kept = context.reasoning === 'text' ? withoutReasoning(message) : keptReasoning(message, context);
  const lost = message.content.filter((block) => block.type === 'thinking' && !kept.has(block)).length;
  const spoken = context.reasoning === 'text' ? reasoningText(message, context) : undefined;
  if (lost > 0 && spoken === undefined)
    context.lose({ code: 'reasoning', message: index, detail: `${lost} reasoning items that cannot go back` });
  const withIds = kept.size > 0 ? lost === 0 : context.store && lost === 0;
  const items: InputItem[] = [];
  for (const run of runsOf(message.content)) {
    const [first] = run;
    if (first === undefined) continue;
    if (isText(first)) items.push(...messageItem(run.filter(isText), withIds, context.scope));
    else if (first.type === 'thinking') items.push(...(kept.get(first) ?? []));
    else if (first.type === 'tool_use') {
      if (spoken !== undefined) items.push(reasoningBefore(first, spoken));
      items.push(callItem(first, withIds, context));
    } else if (first.type === 'builtin_tool') items.push(...builtinItem(first, message, index, lost > 0, context));
    else context.lose({ code: 'extension', message: index, detail: `${first.type} in a model's response` });
  }
  while (items.at(-1)?.type === 'reasoning') items.pop();
  return items;
}

/** Blocks in runs: texts that were parts of one message stand together, everything else alone. */
function runsOf(blocks: readonly Block[]): readonly (readonly Block[])[] {
  const runs: Block[][] = [];
  for (const block of blocks) {
    const last = runs.at(-1);
    const before = last?.at(-1);
    if (last !== undefined && before !== undefined && isText(block) && isText(before) && sameItem(before, block))
      last.push(block);
    else runs.push([block]);
  }
  return runs;
}

type TextLike = Extract<Block, { type: 'text' | 'refusal' | 'extension' }>;

function isText(block: Block): block is TextLike {
  return block.type === 'text' || block.type === 'refusal' || block.type === 'extension';
}

function sameItem(a: ResponsePart, b: ResponsePart): boolean {
  return a.replay?.data.itemId === b.replay?.data.itemId;
}

function dataFor(part: ResponsePart, scope: ReplayScope): JsonObject | undefined {
  return part.replay !== undefined && inScope(part.replay, scope) ? part.replay.data : undefined;
}

/** Reasoning blocks that go back as the items they were. One without encrypted content means nothing to a server that keeps none. */
function keptReasoning(
  message: AssistantTurnMessage,
  context: AssistantContext,
): ReadonlyMap<Block, readonly InputItem[]> {
  const kept = new Map<Block, readonly InputItem[]>();
  for (const block of message.content) {
    if (block.type !== 'thinking') continue;
    const item = reasoningItem(block, context);
    if (item !== undefined) kept.set(block, [item]);
  }
  return kept;
}

function withoutReasoning(_: AssistantTurnMessage): ReadonlyMap<Block, readonly InputItem[]> {
  return new Map();
}

function reasoningItem(block: ThinkingBlock, { scope, store }: AssistantContext): InputItem | undefined {
  const data = dataFor(block, scope);
  const id = itemId('reasoning', data);
  if (data === undefined || id === undefined) return undefined;
  const encrypted = typeof data.encrypted === 'string' ? data.encrypted : undefined;
  if (encrypted === undefined && !store) return undefined;
  const summary = data.summary === undefined ? (block.text === '' ? [] : [block.text]) : textsOf(data.summary);
  return {
    type: 'reasoning',
    id,
    summary: summary.map((text) => ({ type: 'summary_text', text })),
    ...(encrypted === undefined ? {} : { encrypted_content: encrypted }),
  };
}

/** All reasoning of a response as one text that the model can read; only its own goes back to it. */
function reasoningText(message: AssistantTurnMessage, context: AssistantContext): string | undefined {
  const own = message.response?.provider === context.provider;
  const texts = message.content.flatMap((block) =>
    block.type === 'thinking' && block.text.trim() !== '' && (own || dataFor(block, context.scope) !== undefined)
      ? [block.text]
      : [],
  );
  return texts.length === 0 ? undefined : wellFormed(texts.join('\n\n'));
}

/**
 * The reasoning that led to a call, right before it: these servers make a message of every call and want reasoning in
 * each. The published schema wants an id even from servers that issue none: a stable one of our own.
 */
function reasoningBefore(call: ToolUseBlock, text: string): InputItem {
  const id = `rs_${createHash('sha256').update(call.callId).digest('hex').slice(0, 24)}`;
  return { type: 'reasoning', id, summary: [], content: [{ type: 'reasoning_text', text }] };
}

function messageItem(blocks: readonly TextLike[], withIds: boolean, scope: ReplayScope): readonly InputItem[] {
  const said = blocks.flatMap((block) => {
    const text = block.type === 'extension' ? extensionText(block) : block.text;
    return text.trim() === '' ? [] : [{ refusal: block.type === 'refusal', text: wellFormed(text) }];
  });
  const [first] = blocks;
  if (said.length === 0 || first === undefined) return [];
  const data = dataFor(first, scope);
  const phase = phaseOf(data);
  const id = withIds ? itemId('message', data) : undefined;
  if (id === undefined)
    return [{ type: 'message', role: 'assistant', content: said.map(({ text }) => text).join('\n'), ...phase }];
  const content = said.map(
    ({ refusal, text }): OpenAI.Responses.ResponseOutputText | OpenAI.Responses.ResponseOutputRefusal =>
      refusal ? { type: 'refusal', refusal: text } : { type: 'output_text', text, annotations: [] },
  );
  return [{ type: 'message', id, role: 'assistant', status: 'completed', content, ...phase }];
}

function phaseOf(data: JsonObject | undefined): { readonly phase?: 'commentary' | 'final_answer' } {
  const phase = data?.phase;
  return phase === 'commentary' || phase === 'final_answer' ? { phase } : {};
}

/** Our ids of the free-form calls of this server: they go back as such, and so do their results. */
export function customCalls(messages: readonly Message[], scope: ReplayScope): ReadonlySet<string> {
  const blocks = messages.flatMap((message) => (message.role === 'assistant' ? message.content : []));
  return new Set(
    blocks.flatMap((block) => {
      if (block.type !== 'tool_use' || typeof block.input.input !== 'string') return [];
      return dataFor(block, scope)?.custom === true ? [block.callId] : [];
    }),
  );
}

function callItem(block: ToolUseBlock, withIds: boolean, context: AssistantContext): InputItem {
  const data = dataFor(block, context.scope);
  const call_id = context.callIds.get(block.callId) ?? block.callId;
  const custom = context.custom.has(block.callId);
  const namespace = typeof data?.namespace === 'string' ? { namespace: data.namespace } : {};
  const id = withIds ? itemId(custom ? 'custom_tool_call' : 'function_call', data) : undefined;
  const own = { call_id, ...(id === undefined ? {} : { id }), name: wireName(block.name), ...namespace };
  if (custom) return { type: 'custom_tool_call', input: wellFormed(String(block.input.input)), ...own };
  return { type: 'function_call', arguments: JSON.stringify(block.input), ...own };
}

/** Items that wait for an answer of the client, which this one never gives: without it the server refuses them. */
const CLIENT_RUN: readonly string[] = [
  'computer_call',
  'local_shell_call',
  'shell_call',
  'apply_patch_call',
  'mcp_approval_request',
];

/** A tool that this server ran goes back as it came; one that another provider ran becomes a note, never a call. */
function builtinItem(
  block: BuiltinToolBlock,
  message: AssistantTurnMessage,
  index: number,
  reasoningLost: boolean,
  context: AssistantContext,
): readonly InputItem[] {
  const foreign = block.replay !== undefined && !inScope(block.replay, context.scope);
  const { payload } = block;
  const type = typeof payload === 'object' && payload !== null && 'type' in payload ? payload.type : undefined;
  const native = message.response?.api === 'openai-responses' && !foreign && typeof type === 'string';
  const whole = native && block.phase === 'call' && !CLIENT_RUN.includes(type) && !reasoningLost;
  if (whole) return [payload as unknown as InputItem];
  const detail = native ? `${block.name} without what it belongs to` : `${block.name} was run by another provider`;
  context.lose({ code: 'builtin_tool', message: index, detail });
  return native ? [] : [{ type: 'message', role: 'assistant', content: builtinNote(block) }];
}
