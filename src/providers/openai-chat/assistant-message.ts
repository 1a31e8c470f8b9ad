import type OpenAI from 'openai';
import { assertNever } from '../../transcript/assert-never.ts';
import type { ReplayScope } from '../../transcript/items.ts';
import { isJsonObject, type Json, type JsonObject } from '../../transcript/json.ts';
import type { AssistantTurnMessage, ToolUseBlock } from '../../transcript/message.ts';
import { inScope } from '../../transcript/replay-scope.ts';
import { wellFormed } from '../../transcript/well-formed.ts';
import { wireName } from '../../transcript/wire-name.ts';
import { builtinNote, extensionText } from '../stand-ins.ts';
import type { WireLoss } from '../wire-loss.ts';
import type { Dialect } from './dialects.ts';
import { LOST_REASONING, ownThinking, type ReasoningPlan } from './reasoning.ts';

/** The vendor's message, and what other servers added to it. */
export type AssistantParam = OpenAI.Chat.Completions.ChatCompletionAssistantMessageParam & {
  readonly reasoning_content?: string;
  readonly reasoning?: string;
  readonly reasoning_details?: Json;
  readonly extra_content?: Json;
};

type CallParam = OpenAI.Chat.Completions.ChatCompletionMessageFunctionToolCall & { readonly extra_content?: Json };

export interface AssistantContext {
  readonly scope: ReplayScope;
  readonly dialect: Dialect;
  readonly plan: ReasoningPlan;
  readonly lose: (loss: WireLoss) => void;
}

/** Google's documented stand-in for a signature that another model's call does not have. */
const NO_SIGNATURE: JsonObject = { google: { thought_signature: 'skip_thought_signature_validator' } };

/** One model message, or nothing when neither text nor calls are left of it: no server takes an empty one. */
export function assistantParam(
  message: AssistantTurnMessage,
  index: number,
  ids: ReadonlyMap<string, string>,
  context: AssistantContext,
): AssistantParam | undefined {
  const { dialect, plan, lose } = context;
  const uses = message.content.filter((block): block is ToolUseBlock => block.type === 'tool_use');
  const folded = plan.folded.has(index);
  const text = visibleText(message, folded ? uses : []);
  const calls = folded ? [] : uses.map((block, nth) => callParam(block, nth, ids, context));
  const thinking = plan.sends ? ownThinking(message, context.scope) : [];
  const lost = message.content.filter((block) => block.type === 'thinking').length - thinking.length;
  if (lost > 0)
    lose({ code: 'reasoning', message: index, detail: `${lost} block(s) of thinking without a place in this request` });
  if (text === '' && calls.length === 0) return undefined;
  return {
    role: 'assistant',
    ...contentOf(text, calls.length > 0, dialect.emptyContent),
    ...reasoningOf(thinking, text, context),
    ...(dialect.signatures.sent ? extraOf(message, context.scope) : {}),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
}

function visibleText(message: AssistantTurnMessage, folded: readonly ToolUseBlock[]): string {
  const texts = message.content.flatMap((block) => {
    if (block.type === 'text' || block.type === 'refusal')
      return block.text.trim() === '' ? [] : [wellFormed(block.text)];
    if (block.type === 'builtin_tool') return [builtinNote(block)];
    return block.type === 'extension' ? [extensionText(block)] : [];
  });
  const calls = folded.map((block) => `[called ${block.name} with ${JSON.stringify(block.input)}]`);
  return [...texts, ...calls].join('\n\n');
}

function contentOf(text: string, hasCalls: boolean, empty: Dialect['emptyContent']): { content?: string | null } {
  if (text !== '' || !hasCalls) return { content: text };
  if (empty === 'omit') return {};
  return { content: empty === 'null' ? null : '' };
}

function callParam(
  block: ToolUseBlock,
  nth: number,
  ids: ReadonlyMap<string, string>,
  context: AssistantContext,
): CallParam {
  return {
    id: ids.get(block.callId) ?? block.callId,
    type: 'function',
    function: { name: wireName(block.name), arguments: JSON.stringify(block.input) },
    ...signatureOf(block, nth, context),
  };
}

/** Of parallel calls only the first carries a signature, so only the first gets a stand-in. */
function signatureOf(block: ToolUseBlock, nth: number, { dialect, scope }: AssistantContext): { extra_content?: Json } {
  const { sent, wantedBy } = dialect.signatures;
  const own = block.replay !== undefined && inScope(block.replay, scope) ? block.replay.data.extra_content : undefined;
  if (own !== undefined) return { extra_content: own };
  return sent && nth === 0 && wantedBy?.test(scope.model) === true ? { extra_content: NO_SIGNATURE } : {};
}

function extraOf(message: AssistantTurnMessage, scope: ReplayScope): { extra_content?: Json } {
  for (const block of message.content) {
    if (block.type !== 'text' || block.replay === undefined || !inScope(block.replay, scope)) continue;
    const extra = block.replay.data.extra_content;
    if (isJsonObject(extra)) return { extra_content: extra };
  }
  return {};
}

/** The reasoning keys of a message, where the dialect has a place for them. */
function reasoningOf(
  thinking: ReturnType<typeof ownThinking>,
  text: string,
  { dialect, plan }: AssistantContext,
): Partial<Pick<AssistantParam, 'reasoning_content' | 'reasoning' | 'reasoning_details' | 'content'>> {
  const words = thinking.map((block) => block.text).join('');
  const shown = words === '' && plan.placeholder ? LOST_REASONING : words;
  switch (dialect.reasoning.out) {
    case 'none':
      return {};
    case 'reasoning_content':
      return shown === '' ? {} : { reasoning_content: wellFormed(shown) };
    case 'reasoning':
      return shown === '' ? {} : { reasoning: wellFormed(shown) };
    case 'details': {
      const details = thinking.flatMap((block) => detailsOf(block.replay?.data.reasoning_details));
      if (details.length > 0) return { reasoning_details: details };
      return shown === '' ? {} : { reasoning: wellFormed(shown) };
    }
    case 'chunk':
      return shown === ''
        ? {}
        : { content: [...thinkingChunk(wellFormed(shown)), ...(text === '' ? [] : [{ type: 'text' as const, text }])] };
    default:
      return assertNever(dialect.reasoning.out, 'place of reasoning');
  }
}

function detailsOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? (value as readonly Json[]) : [];
}

/** Mistral's content part, ONE for all of a message's thinking; the vendor's type does not know it. */
function thinkingChunk(text: string): OpenAI.Chat.Completions.ChatCompletionContentPartText[] {
  const chunk = { type: 'thinking', thinking: [{ type: 'text', text }] };
  return [chunk as unknown as OpenAI.Chat.Completions.ChatCompletionContentPartText];
}
