import type { Target } from '../providers/request-target.ts';
import type { LoadedRunConfig } from '../store/run-config.ts';
import type { Store } from '../store/store.ts';
import { fromJson } from '../store/stored-json.ts';
import type { AgentItem } from '../transcript/items.ts';
import type { Usage } from '../transcript/message.ts';
import { replaysOf } from '../transcript/replay-scope.ts';
import { textTokens } from '../transcript/text-tokens.ts';
import { calibrate, type RequestEstimate, type TokenAnchor } from '../transcript/token-anchor.ts';
import { toolsTokens } from '../transcript/tokens.ts';
import type { View } from '../transcript/view.ts';
import { anchorAfter, type EstimateTarget, estimateView } from '../transcript/view-estimate.ts';

/** A request whose size is wanted. */
export interface SizedRequest {
  readonly sessionId: string;
  readonly runId: string;
  readonly step: number;
  readonly run: LoadedRunConfig;
  readonly target: Target;
  readonly view: View;
}

/** What a response teaches: where the next estimate starts, and how far off the last one was. */
export interface Lesson {
  readonly anchor: TokenAnchor;
  /** Absent when it moved too little to be worth a write. */
  readonly calibration?: { readonly model: string; readonly factor: number };
}

/** A move of the factor below this changes nothing: no estimate is that good, and each move is a write. */
const LEAST_MOVE = 0.005;

/** The one estimator of requests: for triggers, cut points, limits and summaries. */
export interface Estimates {
  estimate(request: SizedRequest): Promise<RequestEstimate>;
  /** Factor of actual to estimated tokens of `provider/model`; 1 before anything was learnt. */
  factor(model: string): Promise<number>;
  learn(request: SizedRequest, items: readonly AgentItem[], usage: Usage): Promise<Lesson>;
}

/**
 * Keeps anchors by session and factors by model in memory; a worker that is new to a session takes the anchor from the
 * step before, and the factor, from the store.
 */
export function createEstimates(store: Store, capacity = 1000): Estimates {
  const anchors = new Map<string, TokenAnchor>();
  const factors = new Map<string, number | undefined>();

  const factor = async (model: string): Promise<number | undefined> => {
    if (!factors.has(model)) factors.set(model, await store.calibration(model));
    return factors.get(model);
  };
  const anchor = async ({ sessionId, runId, step }: SizedRequest): Promise<TokenAnchor | undefined> => {
    const known = anchors.get(sessionId);
    if (known !== undefined || step === 0) return known;
    const row = await store.request(runId, step - 1);
    const anchor = row?.request?.anchor;
    return anchor === undefined ? undefined : fromJson<TokenAnchor>(anchor);
  };
  return {
    factor: async (model) => (await factor(model)) ?? 1,
    async estimate(request) {
      const calibration = await factor(request.target.name);
      return estimateView(request.view, estimateTarget(request, calibration), await anchor(request));
    },
    async learn(request, items, usage) {
      const { sessionId, target, view } = request;
      const before = await factor(target.name);
      const estimated = estimateTarget(request, before);
      const made = anchorAfter(view, estimated, { items: items.length, usage, replaysReasoning: replays(items) });
      const learnt = calibrate(before, usage.inputTokens, estimateView(view, estimated).rawTokens);
      anchors.delete(sessionId);
      anchors.set(sessionId, made);
      const oldest = anchors.keys().next().value;
      if (anchors.size > capacity && oldest !== undefined) anchors.delete(oldest);
      if (before !== undefined && Math.abs(learnt - before) < LEAST_MOVE) return { anchor: made };
      factors.set(target.name, learnt);
      return { anchor: made, calibration: { model: target.name, factor: learnt } };
    },
  };
}

function estimateTarget({ run, target }: SizedRequest, calibration: number | undefined): EstimateTarget {
  return {
    provider: target.provider,
    model: target.model,
    promptHash: `${run.config.promptSha256}/${run.config.toolsSha256}`,
    baseTokens: baseTokens(run),
    ...(calibration === undefined ? {} : { calibration }),
  };
}

const known = new WeakMap<LoadedRunConfig, number>();

/** System prompt and tools, uncorrected; counted once for a run. */
export function baseTokens(run: LoadedRunConfig): number {
  const tokens = known.get(run) ?? textTokens(run.prompt) + toolsTokens(run.tools);
  known.set(run, tokens);
  return tokens;
}

function replays(items: readonly AgentItem[]): boolean {
  return items.some((item) => item.kind === 'reasoning_summary' && replaysOf(item).length > 0);
}
