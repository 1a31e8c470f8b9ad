import { outputCaps } from './truncate.ts';

/** Smallest and largest window that the arithmetic takes at its word; what is outside is moved to the nearer end. */
const MIN_WINDOW = 256;
const MAX_WINDOW = 2_000_000;

/** Output tokens kept free when neither the agent nor the model says. */
const DEFAULT_OUTPUT = 16_000;

/** Settings of compaction that windows are computed from. Ratios multiply the window. */
export interface ContextConfig {
  /** Compact before a run's first call above this share of the window. */
  readonly triggerRatio: number;
  /** Compact after a batch above this share of the window. */
  readonly hardRatio: number;
  /** Tokens kept free for what no estimate sees. */
  readonly reserveTokens: number;
  /** Tokens of recent groups that a compaction keeps word for word. */
  readonly keepRecentTokens: number;
}

export const DEFAULT_CONTEXT_CONFIG: ContextConfig = {
  triggerRatio: 0.85,
  hardRatio: 0.95,
  reserveTokens: 2000,
  keepRecentTokens: 12_000,
};

export interface WindowInput {
  /** Context window of the model, in tokens. */
  readonly window: number;
  /** Most tokens that the model can answer with, where known. */
  readonly outputLimit?: number;
  /** What the agent asks for. */
  readonly maxOutputTokens?: number;
  readonly config?: Partial<ContextConfig>;
}

/** All in tokens. */
export interface WindowBudget {
  readonly window: number;
  /** Room for the answer; also the request's output limit. */
  readonly outputReserve: number;
  readonly reserve: number;
  /** What a request may take: system, tools and view together. */
  readonly budget: number;
  /** Above it a run's first call is preceded by a compaction, when that pays. */
  readonly softThreshold: number;
  /** Above it a compaction comes before the next call, always. */
  readonly hardThreshold: number;
  readonly keepRecent: number;
  /** Cap of one tool output. */
  readonly toolOutputCap: number;
  /** Cap of a batch of tool outputs. */
  readonly batchCap: number;
}

/** Window arithmetic, sane for any model: every figure is positive, and settings that make no sense are clamped. */
export function windowBudget(input: WindowInput): WindowBudget {
  const config = sane(input.config ?? {});
  const window = Math.floor(clamp(input.window, MIN_WINDOW, MAX_WINDOW));
  const quarter = Math.floor(window / 4);
  const outputReserve = Math.floor(
    Math.min(positive(input.maxOutputTokens, DEFAULT_OUTPUT), positive(input.outputLimit, quarter), quarter),
  );
  const reserve = Math.floor(Math.min(config.reserveTokens, window / 20));
  const budget = window - outputReserve - reserve;
  const hardThreshold = Math.floor(Math.min(config.hardRatio * window, budget));
  const softThreshold = Math.floor(Math.min(config.triggerRatio * window, 0.95 * budget, hardThreshold));
  return {
    window,
    outputReserve,
    reserve,
    budget,
    softThreshold,
    hardThreshold,
    keepRecent: Math.floor(Math.min(config.keepRecentTokens, 0.4 * budget)),
    toolOutputCap: outputCaps(budget).perOutput,
    batchCap: outputCaps(budget).perBatch,
  };
}

function sane(config: Partial<ContextConfig>): ContextConfig {
  const { triggerRatio, hardRatio, reserveTokens, keepRecentTokens } = DEFAULT_CONTEXT_CONFIG;
  return {
    triggerRatio: clamp(config.triggerRatio ?? triggerRatio, 0.05, 1),
    hardRatio: clamp(config.hardRatio ?? hardRatio, 0.05, 1),
    reserveTokens: clamp(config.reserveTokens ?? reserveTokens, 1, MAX_WINDOW),
    keepRecentTokens: clamp(config.keepRecentTokens ?? keepRecentTokens, 1, MAX_WINDOW),
  };
}

function clamp(value: number, low: number, high: number): number {
  return Number.isNaN(value) ? low : Math.min(high, Math.max(low, value));
}

function positive(value: number | undefined, otherwise: number): number {
  return value === undefined || !(value >= 1) ? otherwise : value;
}
