import { knownItemTokens } from './item-tokens.ts';
import type { Usage } from './message.ts';
import type { TokenEstimator } from './text-tokens.ts';
import { estimateRequest, type RequestEstimate, type TokenAnchor } from './token-anchor.ts';
import { isObserved, type View } from './view.ts';

/** What a request is made of besides its view. */
export interface EstimateTarget {
  /** Id of the provider, and the model as the endpoint knows it. */
  readonly provider: string;
  readonly model: string;
  /** Hash of system prompt and tools. */
  readonly promptHash: string;
  /** Tokens of system prompt and tools. */
  readonly baseTokens: number;
  readonly calibration?: number;
  readonly estimator?: TokenEstimator;
}

/** The estimate of the request that a view would make: from the last report where that still counts. */
export function estimateView(view: View, target: EstimateTarget, anchor?: TokenAnchor): RequestEstimate {
  return estimateRequest({
    viewRevision: view.revision,
    provider: target.provider,
    model: target.model,
    promptHash: target.promptHash,
    baseTokens: target.baseTokens,
    itemTokens: view.items.map((item) => knownItemTokens(item, target.estimator)),
    ...(anchor === undefined ? {} : { anchor }),
    ...(target.calibration === undefined ? {} : { calibration: target.calibration }),
  });
}

/**
 * The anchor that a response leaves for later estimates.
 *
 * @param response.items how many items of the response are kept.
 * @param response.replaysReasoning whether its reasoning goes back in later requests; else it is not counted.
 */
export function anchorAfter(
  view: View,
  target: EstimateTarget,
  response: { readonly items: number; readonly usage: Usage; readonly replaysReasoning: boolean },
): TokenAnchor {
  const { rawTokens } = estimateView(view, target);
  const { inputTokens, outputTokens, reasoningTokens } = response.usage;
  const kept = Math.max(0, outputTokens - (response.replaysReasoning ? 0 : reasoningTokens));
  // Observed messages stand last and are gone in the next request: they are paid once and cover nothing.
  const lasting = view.items.filter((item) => !isObserved(item));
  const passing = view.items.filter(isObserved).reduce((sum, item) => sum + knownItemTokens(item, target.estimator), 0);
  return {
    viewRevision: view.revision,
    provider: target.provider,
    model: target.model,
    promptHash: target.promptHash,
    coveredItems: lasting.length + response.items,
    reportedTokens: inputTokens === 0 ? 0 : Math.max(0, inputTokens - passing) + kept,
    estimatedTokens: rawTokens - passing + kept,
  };
}
