import { assertNever } from '../../transcript/assert-never.ts';
import type { ReplayScope } from '../../transcript/items.ts';
import type { JsonObject } from '../../transcript/json.ts';
import type { AssistantTurnMessage, Message, MessageRequest, ThinkingBlock } from '../../transcript/message.ts';
import { inScope } from '../../transcript/replay-scope.ts';
import type { Dialect } from './dialects.ts';

/** Sent as reasoning where a model insists on some and ours is missing or another model's. */
export const LOST_REASONING = '(reasoning not available)';

/** What is to be done about reasoning in one request. */
export interface ReasoningPlan {
  /** Whether thinking goes back at all. */
  readonly sends: boolean;
  /** The request must switch thinking off, because reasoning is missing. */
  readonly disabled: boolean;
  /** Messages without reasoning get a stand-in. */
  readonly placeholder: boolean;
  /** Indexes in `MessageRequest.messages` of assistant messages (and their results) that become plain text. */
  readonly folded: ReadonlySet<number>;
}

/** The thinking of a message that may go back to this endpoint, account and model. */
export function ownThinking(message: AssistantTurnMessage, scope: ReplayScope): readonly ThinkingBlock[] {
  return message.content.filter(
    (block): block is ThinkingBlock =>
      block.type === 'thinking' && block.replay !== undefined && inScope(block.replay, scope),
  );
}

/**
 * Decides from the dialect's data. Depends on each message alone and on settings that are frozen between maintenance
 * passes, except for `disable_thinking`, which is a switch for the whole request.
 */
export function reasoningPlan(request: MessageRequest, scope: ReplayScope, rules: Dialect['reasoning']): ReasoningPlan {
  const none: ReasoningPlan = { sends: false, disabled: false, placeholder: false, folded: new Set() };
  if (rules.out === 'none' || request.thinking === 'off') return none;
  const sends: ReasoningPlan = { ...none, sends: true };
  const wanted = request.thinking !== undefined || rules.wantedBy?.test(request.model) === true;
  if (!wanted || rules.wantedBy === undefined) return sends;
  const missing = request.messages.flatMap((message, index) => (lacksReasoning(message, scope) ? [index] : []));
  switch (rules.whenMissing) {
    case 'omit':
      return sends;
    case 'placeholder':
      return { ...sends, placeholder: true };
    case 'disable_thinking':
      return missing.length === 0 ? sends : { ...none, disabled: true };
    case 'fold_turn_to_text':
      return { ...sends, folded: new Set(missing) };
    default:
      return assertNever(rules.whenMissing, 'ruling on missing reasoning');
  }
}

/** Servers ask for reasoning beside calls; a final answer without it is taken by all. */
function lacksReasoning(message: Message, scope: ReplayScope): boolean {
  if (message.role !== 'assistant') return false;
  return message.content.some((block) => block.type === 'tool_use') && ownThinking(message, scope).length === 0;
}

const EFFORT_TOKENS = { low: 2048, medium: 8192, high: 24576 } as const;

/** The keys that switch thinking on or off, or set its depth; none where the request leaves it to the model. */
export function thinkingSwitch(
  { thinking, model }: Pick<MessageRequest, 'thinking' | 'model'>,
  rules: Dialect['reasoning'],
): JsonObject {
  if (thinking === undefined || rules.switchedFor?.test(model) === false) return {};
  const off = thinking === 'off';
  const budget = off ? undefined : (thinking.budgetTokens ?? (thinking.effort && EFFORT_TOKENS[thinking.effort]));
  switch (rules.switch) {
    case 'none':
      return {};
    case 'reasoning_effort':
      return { reasoning_effort: off ? leastEffort(model) : (thinking.effort ?? effortOf(thinking.budgetTokens)) };
    case 'thinking_type':
      return { thinking: { type: off ? 'disabled' : 'enabled' } };
    case 'enable_thinking':
      return { enable_thinking: !off, ...(budget === undefined ? {} : { thinking_budget: budget }) };
    case 'reasoning_object':
      if (off) return { reasoning: { enabled: false } };
      return {
        reasoning:
          thinking.effort === undefined ? { max_tokens: budget ?? EFFORT_TOKENS.medium } : { effort: thinking.effort },
      };
    case 'template':
      return { chat_template_kwargs: { enable_thinking: !off } };
    default:
      return assertNever(rules.switch, 'thinking switch');
  }
}

/** The word for "do not think", or for as little as the model can (https://platform.openai.com/docs/guides/reasoning). */
function leastEffort(model: string): 'none' | 'minimal' | 'low' {
  if (/^o\d/.test(model)) return 'low';
  return /^gpt-5(?:-|$)/.test(model) ? 'minimal' : 'none';
}

function effortOf(budgetTokens: number | undefined): 'low' | 'medium' | 'high' {
  if (budgetTokens === undefined) return 'medium';
  return budgetTokens <= 4096 ? 'low' : budgetTokens <= 16384 ? 'medium' : 'high';
}
