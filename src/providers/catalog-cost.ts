import type { Usage } from '../transcript/message.ts';
import type { PriceTier } from './catalog.ts';

const MILLION = 1_000_000;

/**
 * What a call cost in US dollars. Cached input is priced apart where a price is known, else as plain input, which is never
 * too little; reasoning is output unless it has a price of its own. The size of the whole input chooses the tier.
 */
export function costUsd(usage: Usage, prices: readonly [PriceTier, ...PriceTier[]]): number {
  const tier = prices.findLast(({ fromInputTokens }) => usage.inputTokens >= fromInputTokens) ?? prices[0];
  const { cacheReadTokens: read, cacheWriteTokens: write, reasoningTokens } = usage;
  const fresh = Math.max(0, usage.inputTokens - read - write);
  const reasoned = Math.min(reasoningTokens, usage.outputTokens);
  const input = fresh * tier.input + read * (tier.cacheRead ?? tier.input) + write * (tier.cacheWrite ?? tier.input);
  const output = (usage.outputTokens - reasoned) * tier.output + reasoned * (tier.reasoning ?? tier.output);
  return (input + output) / MILLION;
}
