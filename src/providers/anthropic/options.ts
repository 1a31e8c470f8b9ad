import type { JsonObject } from '../../transcript/json.ts';

/** What is the same for all requests to one Anthropic endpoint. */
export interface AnthropicOptions {
  /** Used when the request names no limit; the wire demands one. Default 8,192 tokens. */
  readonly defaultMaxOutputTokens?: number;
  /** How long the marked prefix stays cached; `off` sends no marks. Default `5m`. */
  readonly promptCache?: '5m' | '1h' | 'off';
  /** How a model is told to think; default by name, see {@link thinkingStyle}. */
  readonly thinkingStyle?: (model: string) => ThinkingStyle;
  /** Thinking without a signature: `drop` (Anthropic refuses it), or `replay` for endpoints that give none and want it back. Default `drop`. */
  readonly unsignedThinking?: 'drop' | 'replay';
  /** Names for the header `anthropic-beta`, such as `interleaved-thinking-2025-05-14`. */
  readonly betas?: readonly string[];
  /** Whether a model takes images; default yes. */
  readonly takesImages?: (model: string) => boolean;
  /** Tools that the provider runs itself, in its own form, such as `{ type: 'web_search_20250305', name: 'web_search' }`. */
  readonly builtinTools?: readonly JsonObject[];
}

/** `budget`: tokens to think (`thinking.budget_tokens`). `adaptive`: the model decides, steered by an effort word. */
export type ThinkingStyle = 'budget' | 'adaptive';

/**
 * From Claude 4.6 on thinking is adaptive and a fixed budget is deprecated.
 * https://platform.claude.com/docs/en/build-with-claude/adaptive-thinking
 */
export function thinkingStyle(model: string): ThinkingStyle {
  const match = /claude-(?:opus|sonnet|haiku|fable|mythos)-(\d+)(?:[.-](\d{1,2}))?(?!\d)/.exec(model);
  if (match === null) return 'budget';
  const [major, minor] = [Number(match[1]), Number(match[2] ?? 0)];
  return major > 4 || (major === 4 && minor >= 6) ? 'adaptive' : 'budget';
}
