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
  /** What is still to come: see {@link expectedSteps}. */
  readonly expected: ExpectedSteps;
  /** Whether the provider still holds the prefix; a pause longer than its cache lives makes it cold. */
  readonly warm: boolean;
  /** The summariser reads the agent's own cached prefix. */
  readonly ride: boolean;
}

/** Model calls that are expected of a session from now on. */
export interface ExpectedSteps {
  /** The next one included; at least 1. */
  readonly steps: number;
  /** Calls from one pause to the next; at least 1. */
  readonly perRun: number;
  /** Share of the pauses that outlast the provider's cache, 0 to 1. */
  readonly coldShare: number;
}

/** A finished run. */
export interface PastRun {
  readonly steps: number;
  /** Whether the pause before it outlasted the provider's cache; a session's first run had none. */
  readonly cold: boolean;
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
 * tools, `A` after a compaction, `S` written by the summariser, `g` added by a step, `n` steps expected, `m` of them a run:
 *
 *     step(x, c)    = c·r + (x − c)·w                 x tokens, c of them in the cache
 *     compaction(x) = step(x, c) + S·o                in ride mode, else x·i + S·o
 *     early         = compaction(T) + steps from A, of which B are in the cache
 *     late          = steps from T, of which all are in the cache when it is warm
 *     steps from x  = Σ step(x + k·g, x + (k−1)·g)    k = 0 … n−1
 *
 * where a request above the hard threshold is compacted first in both sums and goes on from `A`, and where the first step
 * of each run (every `m`) finds `1 − p` of its prefix in the cache, `p` being the share of the pauses that outlast it.
 * Pays when `early < late`: the lost cache and the summariser against the tokens that each further step saves.
 */
export function decideEarlyPass(input: EarlyPassInput): EarlyDecision {
  const steps = Math.max(1, Math.min(HORIZON, Math.floor(input.expected.steps)));
  const bill = new Bill(input);
  const earlyUsd = bill.compaction(input.tokens, input.warm ? input.tokens : 0) + bill.steps(steps, 'compacted');
  const lateUsd = bill.steps(steps, 'as it is');
  const pays = earlyUsd < lateUsd;
  const sums = `${usd(earlyUsd)} against ${usd(lateUsd)} over ${steps} expected ${steps === 1 ? 'step' : 'steps'}`;
  return { pays, earlyUsd, lateUsd, reason: pays ? `compacting now pays: ${sums}` : `does not pay yet: ${sums}` };
}

/** What has lasted for some steps lasts as long again in half of all cases; on average, which costs are about, longer. */
const LASTING = 2;

/** A session that nothing is known of yet: a question is seldom the last. */
const LEAST_STEPS = 3;

/**
 * What a session is expected to do yet: twice as many model calls as it has made, and three at least, in runs of the median length of the
 * finished ones, with as many cold pauses as before.
 *
 * @param past the session's finished runs, in any order.
 * @param madeInRun calls that the open run has made.
 */
export function expectedSteps(past: readonly PastRun[], madeInRun: number): ExpectedSteps {
  const lengths = past.map(({ steps }) => steps).sort((a, b) => a - b);
  const median = lengths[Math.floor((lengths.length - 1) / 2)] ?? 1;
  const made = lengths.reduce((sum, steps) => sum + steps, madeInRun);
  const coldShare = past.length === 0 ? 0 : past.filter(({ cold }) => cold).length / past.length;
  return { steps: Math.max(LEAST_STEPS, LASTING * made), perRun: Math.max(1, median), coldShare };
}

/** What requests cost, in dollars. */
class Bill {
  private readonly input: EarlyPassInput;

  constructor(input: EarlyPassInput) {
    this.input = input;
  }

  steps(count: number, from: 'compacted' | 'as it is'): number {
    const { tokens: now, tokensAfter, hardThreshold, stepTokens, warm, expected } = this.input;
    const perRun = Math.max(1, Math.floor(expected.perRun));
    let tokens = from === 'compacted' ? tokensAfter : now;
    let cached = from === 'compacted' ? this.base() : warm ? now : 0;
    let usd = 0;
    for (let step = 0; step < count; step += 1) {
      if (step > 0 && step % perRun === 0) cached *= 1 - expected.coldShare;
      if (tokens > hardThreshold && tokensAfter < tokens) {
        usd += this.compaction(tokens, cached);
        tokens = tokensAfter;
        cached = this.base();
      }
      usd += this.request(tokens, cached);
      cached = tokens;
      tokens += Math.max(0, stepTokens);
    }
    return usd;
  }

  compaction(tokens: number, cached: number): number {
    const { ride, summaryTokens } = this.input;
    const { output, input: plain } = this.tier(tokens);
    const read = ride ? this.request(tokens, cached) : (tokens * plain) / MILLION;
    return read + (summaryTokens * output) / MILLION;
  }

  private request(tokens: number, cached: number): number {
    const tier = this.tier(tokens);
    const read = Math.min(tokens, cached);
    return (read * (tier.cacheRead ?? tier.input) + (tokens - read) * (tier.cacheWrite ?? tier.input)) / MILLION;
  }

  /** Of a compacted request in the cache: a ride reads or writes the base; without one a cold base stays cold. */
  private base(): number {
    const { warm, ride, baseTokens, tokensAfter } = this.input;
    return warm || ride ? Math.min(baseTokens, tokensAfter) : 0;
  }

  private tier(tokens: number): PriceTier {
    const { prices } = this.input;
    return prices.findLast(({ fromInputTokens }) => tokens >= fromInputTokens) ?? prices[0];
  }
}

const MILLION = 1_000_000;

function usd(amount: number): string {
  return `$${amount.toFixed(4)}`;
}
