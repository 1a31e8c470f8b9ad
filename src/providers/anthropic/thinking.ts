import { createHash } from 'node:crypto';
import type Anthropic from '@anthropic-ai/sdk';
import type { JsonObject } from '../../transcript/json.ts';
import type { MessageRequest, ThinkingBlock } from '../../transcript/message.ts';
import type { AnthropicOptions } from './options.ts';
import { thinkingStyle } from './options.ts';

type ThinkingParam = Anthropic.Messages.ThinkingBlockParam | Anthropic.Messages.RedactedThinkingBlockParam;

/** `budget_tokens` "must be ≥ 1024 and less than max_tokens" (Messages API reference). */
const MIN_BUDGET = 1024;
/** Share of the output limit that thinking may take when the wish is too large, so that an answer still fits. */
const MAX_SHARE = 0.8;
const BUDGET_OF_EFFORT: Readonly<Record<'low' | 'medium' | 'high', number>> = { low: 2048, medium: 8192, high: 16_384 };

/** Replay data of one thinking block as it arrived: its signature, and a hash that tells whether the text is still that text. */
export function thinkingReplay(text: string, signature: string): JsonObject {
  return { signature, textHash: textHash(text) };
}

/**
 * The block exactly as the server gave it, or `undefined` where it cannot be shown that it is: no signature, another
 * scope, or a text that was cleared or changed. An altered signed block is a 400, so such a block goes whole.
 */
export function replayedThinking(
  block: ThinkingBlock,
  data: JsonObject | undefined,
  unsigned: 'drop' | 'replay',
): ThinkingParam | undefined {
  if (data === undefined) return undefined;
  if (typeof data.redacted === 'string') return { type: 'redacted_thinking', data: data.redacted };
  const { signature } = data;
  if (typeof signature !== 'string' || (signature === '' && unsigned === 'drop')) return undefined;
  // Servers may withhold the text and send a bare signature; only a hash made on arrival proves that nothing was cleared.
  const intact = data.textHash === undefined ? block.text !== '' : data.textHash === textHash(block.text);
  return intact ? { type: 'thinking', thinking: block.text, signature } : undefined;
}

function textHash(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 22);
}

/** Settings about thinking, and why one of them is not as wished. */
export interface ThinkingSettings {
  readonly thinking?: Anthropic.Messages.ThinkingConfigParam;
  readonly effort?: 'low' | 'medium' | 'high';
  readonly loss?: string;
}

/** Whether the open tool turn lets a model with a thinking budget go on: its assistant messages must begin with thinking. */
export type OpenTurn = 'none' | 'begins_with_thinking' | 'lacks_thinking';

/**
 * The thinking settings that this request may carry.
 *
 * A forced tool and a thinking budget exclude each other, and so do a budget and an open tool turn that another model
 * began: the wish for thinking yields, because otherwise the server refuses the whole request.
 */
export function thinkingSettings(
  request: MessageRequest,
  maxTokens: number,
  openTurn: OpenTurn,
  options: AnthropicOptions,
): ThinkingSettings {
  const wish = request.thinking;
  if (wish === undefined) return {};
  if (wish === 'off') return { thinking: { type: 'disabled' } };
  const adaptive = (options.thinkingStyle ?? thinkingStyle)(request.model) === 'adaptive';
  const forced = request.toolChoice !== undefined && request.toolChoice !== 'auto' && request.toolChoice !== 'none';
  if (forced && request.tools.length > 0) return { loss: 'thinking is off, because a tool is forced' };
  if (adaptive) {
    const effort = wish.effort ?? effortOf(wish.budgetTokens);
    return { thinking: { type: 'adaptive' }, ...(effort === undefined ? {} : { effort }) };
  }
  if (openTurn === 'lacks_thinking') return { loss: 'thinking is off until the open tool turn ends: it began without' };
  const budget = budgetWithin(wish.budgetTokens ?? BUDGET_OF_EFFORT[wish.effort ?? 'medium'], maxTokens);
  if (budget === undefined) return { loss: `thinking is off: ${maxTokens} output tokens leave no room for it` };
  return { thinking: { type: 'enabled', budget_tokens: budget } };
}

function budgetWithin(wish: number, maxTokens: number): number | undefined {
  if (maxTokens <= MIN_BUDGET) return undefined;
  const ceiling = wish < maxTokens ? maxTokens - 1 : Math.floor(maxTokens * MAX_SHARE);
  return Math.max(MIN_BUDGET, Math.min(Math.floor(wish), ceiling));
}

function effortOf(budgetTokens: number | undefined): 'low' | 'medium' | 'high' | undefined {
  if (budgetTokens === undefined) return undefined;
  if (budgetTokens < BUDGET_OF_EFFORT.medium) return 'low';
  return budgetTokens < BUDGET_OF_EFFORT.high ? 'medium' : 'high';
}
