import type OpenAI from 'openai';
import type { ReplayScope, ResponsePart } from '../../transcript/items.ts';
import type { JsonObject } from '../../transcript/json.ts';
import type { AssistantTurnMessage, Block, BuiltinToolBlock, Message, ToolUseBlock } from '../../transcript/message.ts';
import { inScope } from '../../transcript/replay-scope.ts';
import { wellFormed } from '../../transcript/well-formed.ts';
import { wireName } from '../../transcript/wire-name.ts';
import { builtinNote, extensionText } from '../stand-ins.ts';
import {
  type AssistantContext,
  dataFor,
  type InputItem,
  keptReasoning,
  reasoningBefore,
  reasoningText,
} from './reasoning-items.ts';
import { itemId } from './replay-data.ts';

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
  const kept = keptReasoning(message, context);
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
