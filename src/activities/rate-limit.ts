import { ProviderError } from '../providers/errors.ts';
import type { RateLimit } from '../store/store.ts';
import type { ActivityDeps } from './agents.ts';

/**
 * Takes one call out of the provider's limits, before it is made.
 *
 * @param tokens our own estimate of the request, system prompt and tools included.
 *
 * @throws ProviderError `rate_limit` with how long to wait; nothing was sent.
 */
export async function withinRate(deps: ActivityDeps, provider: string, tokens: number): Promise<void> {
  const limits = deps.rateLimits?.get(provider);
  if (limits === undefined) return;
  const wanted: RateLimit[] = [];
  const { requestsPerMinute, tokensPerMinute } = limits;
  if (requestsPerMinute !== undefined)
    wanted.push({ bucket: `${provider}:requests`, perMinute: requestsPerMinute, amount: 1 });
  if (tokensPerMinute !== undefined) {
    wanted.push({ bucket: `${provider}:tokens`, perMinute: tokensPerMinute, amount: tokens });
  }
  const { waitMs } = await deps.store.takeRate(wanted);
  if (waitMs === 0) return;
  throw new ProviderError('rate_limit', `The limit set for ${provider} is used up for now.`, { retryAfterMs: waitMs });
}
