import { ProviderError } from '../providers/errors.ts';
import type { LoadedRunConfig } from '../store/run-config.ts';
import type { RateLimit } from '../store/store.ts';
import { textTokens } from '../transcript/text-tokens.ts';
import { toolsTokens } from '../transcript/tokens.ts';
import { type View, viewTokens } from '../transcript/view.ts';
import type { ActivityDeps } from './agents.ts';

/**
 * Takes one call out of the provider's limits, before it is made.
 *
 * @throws ProviderError `rate_limit` with how long to wait; nothing was sent.
 */
export async function withinRate(
  deps: ActivityDeps,
  provider: string,
  run: LoadedRunConfig,
  view: View,
): Promise<void> {
  const limits = deps.rateLimits?.get(provider);
  if (limits === undefined) return;
  const wanted: RateLimit[] = [];
  const { requestsPerMinute, tokensPerMinute } = limits;
  if (requestsPerMinute !== undefined)
    wanted.push({ bucket: `${provider}:requests`, perMinute: requestsPerMinute, amount: 1 });
  if (tokensPerMinute !== undefined) {
    wanted.push({ bucket: `${provider}:tokens`, perMinute: tokensPerMinute, amount: requestTokens(run, view) });
  }
  const { waitMs } = await deps.store.takeRate(wanted);
  if (waitMs === 0) return;
  throw new ProviderError('rate_limit', `The limit set for ${provider} is used up for now.`, { retryAfterMs: waitMs });
}

/** Our own estimate of a request, system prompt and tools included. */
export function requestTokens(run: LoadedRunConfig, view: View): number {
  return viewTokens(view) + toolsTokens(run.tools) + textTokens(run.prompt);
}
