/**
 * What a provider reported for a request that we sent. Good for a later estimate only while everything before the new
 * items is byte for byte the same.
 */
export interface TokenAnchor {
  /** Revision of the view that the request was made from. */
  readonly viewRevision: string;
  /** Id of the provider, and the model as the endpoint knows it. */
  readonly provider: string;
  readonly model: string;
  /** Hash of system prompt and tools. */
  readonly promptHash: string;
  /** Items of the view that the reported figures cover: those sent, and those of the response itself. */
  readonly coveredItems: number;
  /** Input and output tokens that the provider reported. */
  readonly reportedTokens: number;
  /** What we estimated for the same items before any correction: tells zero and nonsense from a report. */
  readonly estimatedTokens: number;
}

export interface EstimateInput {
  readonly viewRevision: string;
  readonly provider: string;
  readonly model: string;
  readonly promptHash: string;
  /** System prompt and tools. */
  readonly baseTokens: number;
  /** Estimate of each item of the view, in order. */
  readonly itemTokens: readonly number[];
  readonly anchor?: TokenAnchor;
  /** Factor of the provider and model, from {@link calibrate}; default 1. */
  readonly calibration?: number;
}

export interface RequestEstimate {
  readonly tokens: number;
  /** `anchor`: a report and the estimate of what came since; `estimate`: everything is estimated. */
  readonly basis: 'anchor' | 'estimate';
  /** Uncorrected estimate of the whole request, to be kept with the next anchor. */
  readonly rawTokens: number;
}

/** The one estimate of a request: for triggers, cut points and summariser budgets. */
export function estimateRequest(input: EstimateInput): RequestEstimate {
  const factor = clampedFactor(input.calibration ?? 1);
  const rawTokens = input.baseTokens + total(input.itemTokens, 0);
  const anchor = input.anchor;
  if (anchor === undefined || !counts(anchor, input)) {
    return { tokens: Math.ceil(rawTokens * factor), basis: 'estimate', rawTokens };
  }
  const since = total(input.itemTokens, anchor.coveredItems);
  return { tokens: anchor.reportedTokens + Math.ceil(since * factor), basis: 'anchor', rawTokens };
}

function counts(anchor: TokenAnchor, input: EstimateInput): boolean {
  return (
    anchor.viewRevision === input.viewRevision &&
    anchor.provider === input.provider &&
    anchor.model === input.model &&
    anchor.promptHash === input.promptHash &&
    anchor.coveredItems <= input.itemTokens.length &&
    isKnown(anchor.reportedTokens, anchor.estimatedTokens)
  );
}

/** Zero, or less than half of what was estimated, is no report: servers leave the figures out or count the uncached rest. */
function isKnown(reportedTokens: number, estimatedTokens: number): boolean {
  return Number.isFinite(reportedTokens) && reportedTokens > 0 && reportedTokens * 2 >= estimatedTokens;
}

/** Weight of the newest response in the moving average. */
const NEWEST = 0.2;

/** Requests below this say more about wrapping than about text. */
const MIN_TOKENS = 200;

/**
 * Exponential moving average of actual / estimated tokens, kept per provider and model and clamped to 0.5–2. Reports
 * that are unknown, or of requests too small to tell, change nothing.
 *
 * @param previous `undefined` before the first report, which then counts in full.
 */
export function calibrate(previous: number | undefined, actualTokens: number, estimatedTokens: number): number {
  const before = clampedFactor(previous ?? 1);
  if (!(estimatedTokens >= MIN_TOKENS) || !isKnown(actualTokens, estimatedTokens)) return before;
  const ratio = clampedFactor(actualTokens / estimatedTokens);
  return previous === undefined ? ratio : clampedFactor(before + NEWEST * (ratio - before));
}

/** A correction of estimates within 0.5–2: beyond it, or where it is no number, something else is wrong. */
export function clampedFactor(factor: number): number {
  return Number.isFinite(factor) ? Math.min(2, Math.max(0.5, factor)) : 1;
}

function total(tokens: readonly number[], from: number): number {
  let sum = 0;
  for (let at = from; at < tokens.length; at += 1) sum += tokens[at] ?? 0;
  return sum;
}
