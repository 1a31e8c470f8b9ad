import type { PriceTier } from '../providers/catalog.ts';

export interface EarlyPassInput {
  readonly prices: readonly [PriceTier, ...PriceTier[]];
  /** Request now, in tokens. */
  readonly tokens: number;
  /** System prompt and tools: they stay in the cache whatever happens to the view. */
  readonly baseTokens: number;
  /** What the request would take after a compaction, the new summary included. */
  readonly tokensAfter: number;
  /** Tokens that the summariser writes. */
  readonly summaryTokens: number;
  /** Above it the request is compacted in any case. */
  readonly hardThreshold: number;
  /** Tokens that one step adds, on average. */
  readonly stepTokens: number;
  /** Model calls still expected with this view, the next one included: see {@link expectedSteps}. */
  readonly steps: number;
  /** Whether the provider still holds the prefix; a pause longer than its cache lives makes it cold. */
  readonly warm: boolean;
  /** The summariser reads the agent's own cached prefix. */
  readonly ride: boolean;
}

export interface EarlyDecision {
  readonly pays: boolean;
  /** Expected dollars of the remaining steps, compacted now and only when it must be. */
  readonly earlyUsd: number;
  readonly lateUsd: number;
  /** One line for people. */
  readonly reason: string;
}

/** Steps that are looked ahead at most: further ones say nothing about now. */
const HORIZON = 1000;

/**
 * Whether a compaction before the hard threshold pays.
 *
 * With `i, o, r, w` the prices of input, output, cache read and cache write, `T` tokens now, `B` of them system prompt and
 * tools, `A` after a compaction, `S` written by the summariser, `g` added by a step and `n` steps expected:
 *
 *     step(x, cached)  = cached·r + (x − cached)·w
 *     compaction(x)    = x·r + S·o            in ride mode, the prefix being warm; else x·i + S·o
 *     early            = compaction(T) + step(A, B) + Σ step(A + k·g, A + (k−1)·g)   for k = 1 … n−1
 *     late             = step(T, T or 0)    + Σ step(T + k·g, T + (k−1)·g)           for k = 1 … n−1
 *
 * where in both sums a request above the hard threshold is compacted first, which costs `compaction(x)` and goes on from
 * `step(A, B)`. Pays when `early < late`: the cache that is lost and the summariser against the tokens saved in each step.
 */
export function decideEarlyPass(input: EarlyPassInput): EarlyDecision {
  const steps = Math.max(1, Math.min(HORIZON, Math.floor(input.steps)));
  const cached = input.warm ? input.tokens : 0;
  const earlyUsd =
    compactionUsd(input, input.tokens, input.warm) + stepsUsd(input, input.tokensAfter, baseCached(input), steps);
  const lateUsd = stepsUsd(input, input.tokens, cached, steps);
  const pays = earlyUsd < lateUsd;
  const sums = `${usd(earlyUsd)} against ${usd(lateUsd)} over ${steps} expected ${steps === 1 ? 'step' : 'steps'}`;
  return { pays, earlyUsd, lateUsd, reason: pays ? `compacting now pays: ${sums}` : `does not pay yet: ${sums}` };
}

/**
 * Model calls still to be expected: the median of what the session's past runs took, and at least as many as this run
 * has made already, as what has lasted tends to last. 1 where nothing is known.
 *
 * @param past steps of the session's finished runs, in any order.
 */
export function expectedSteps(past: readonly number[], madeInRun: number): number {
  const sorted = past.toSorted((a, b) => a - b);
  const median = sorted[Math.floor((sorted.length - 1) / 2)] ?? 1;
  return Math.max(1, madeInRun, median - madeInRun);
}

/** Dollars of `steps` requests that begin at `tokens`, of which `cached` are read from the cache by the first. */
function stepsUsd(input: EarlyPassInput, from: number, cachedAtFirst: number, steps: number): number {
  let tokens = from;
  let cached = cachedAtFirst;
  let usd = 0;
  for (let step = 0; step < steps; step += 1) {
    if (tokens > input.hardThreshold && input.tokensAfter < tokens) {
      usd += compactionUsd(input, tokens, cached > 0);
      tokens = input.tokensAfter;
      cached = baseCached(input);
    }
    usd += inputUsd(input, tokens, cached);
    cached = tokens;
    tokens += Math.max(0, input.stepTokens);
  }
  return usd;
}

function compactionUsd(input: EarlyPassInput, tokens: number, warm: boolean): number {
  const { output, input: plain } = tierOf(input, tokens);
  const read = input.ride ? inputUsd(input, tokens, warm ? tokens : 0) : (tokens * plain) / 1_000_000;
  return read + (input.summaryTokens * output) / 1_000_000;
}

function inputUsd(input: EarlyPassInput, tokens: number, cached: number): number {
  const tier = tierOf(input, tokens);
  const read = Math.min(tokens, cached);
  return (read * (tier.cacheRead ?? tier.input) + (tokens - read) * (tier.cacheWrite ?? tier.input)) / 1_000_000;
}

function baseCached({ warm, baseTokens, tokensAfter, ride }: EarlyPassInput): number {
  // A ride writes the base into the cache again; without one a cold base stays cold.
  return warm || ride ? Math.min(baseTokens, tokensAfter) : 0;
}

function tierOf({ prices }: EarlyPassInput, tokens: number): PriceTier {
  return prices.findLast(({ fromInputTokens }) => tokens >= fromInputTokens) ?? prices[0];
}

function usd(amount: number): string {
  return `$${amount.toFixed(4)}`;
}
