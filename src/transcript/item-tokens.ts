import type { AgentItem } from './items.ts';
import type { TokenEstimator } from './text-tokens.ts';
import { itemTokens } from './tokens.ts';

/** Items are immutable and views share them, so each is counted once however many views hold it. */
const KNOWN: Readonly<Record<TokenEstimator, WeakMap<AgentItem, number>>> = {
  fitted: new WeakMap(),
  conservative: new WeakMap(),
};

/** {@link itemTokens}, remembered by the identity of the item. */
export function knownItemTokens(item: AgentItem, estimator: TokenEstimator = 'fitted'): number {
  const known = KNOWN[estimator].get(item);
  if (known !== undefined) return known;
  const tokens = itemTokens(item, estimator);
  KNOWN[estimator].set(item, tokens);
  return tokens;
}

/** Tokens of a list of items, as the sum of each. */
export function itemsTokens(items: readonly AgentItem[], estimator: TokenEstimator = 'fitted'): number {
  let tokens = 0;
  for (const item of items) tokens += knownItemTokens(item, estimator);
  return tokens;
}
