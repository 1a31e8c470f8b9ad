import type { WindowBudget } from '../transcript/budget.ts';
import { type CutPoint, cutPoint } from '../transcript/cut-point.ts';
import type { CompactionTrigger } from '../transcript/events.ts';
import { groupsOf } from '../transcript/groups.ts';
import { itemsTokens, knownItemTokens } from '../transcript/item-tokens.ts';
import { type MaintenanceOptions, maintainView } from '../transcript/maintain-view.ts';
import { cutProtected, unansweredSeqs } from '../transcript/protected-items.ts';
import { shrinkView } from '../transcript/shrink-view.ts';
import { clampedFactor } from '../transcript/token-anchor.ts';
import { buildView, type View, viewTokens } from '../transcript/view.ts';
import type { ViewEdit } from '../transcript/view-edits.ts';
import type { CompactionConfig } from './config.ts';
import { keepIdentifiers, withEdits } from './edit-identifiers.ts';
import { turnsOf, turnsToKeep } from './policy.ts';

/** Share of the hard threshold that view edits must bring the request below to be enough on their own. */
const EDITS_TARGET = 0.7;

/** Share of the hard threshold that a cut brings the request below: room for some steps before the next one. */
const CUT_TARGET = 0.65;

/** What a summary may take of the budget, at most and at least, in tokens. */
const SUMMARY_SHARE = 0.4;
const MAX_SUMMARY = 6000;
const MIN_SUMMARY = 200;

/** A summary may grow by this share of what it newly replaces. */
const SUMMARY_GROWTH = 0.5;

/** Share of the budget that messages of an open run may take word for word; what is beyond it is summarised. */
const PROTECTED_SHARE = 0.2;

/** A prefix smaller than this is not worth a summary, in tokens. */
const MIN_REPLACED = 150;

export interface PlanInput {
  readonly view: View;
  readonly window: WindowBudget;
  /** Estimated tokens of system prompt and tools, uncorrected. */
  readonly systemTokens: number;
  readonly toolsTokens: number;
  /**
   * The estimate that asked for the compaction (corrected, from a report where there was one), or what a provider named
   * when it refused the request. All figures of the plan are corrected by the factor that it implies.
   */
  readonly tokens?: number;
  readonly trigger: CompactionTrigger;
  /** Run whose messages are not answered yet; absent when the session is idle. */
  readonly openRunId?: string;
  readonly config: Pick<CompactionConfig, 'maxHistoryTurns' | 'keepRecentMessages' | 'compactThinking'>;
  readonly semanticOf?: MaintenanceOptions['semanticOf'];
  readonly maxMediaBytes?: number;
}

/** What the next request is made of at least, in corrected tokens. */
export interface UnfittableBreakdown {
  readonly system: number;
  readonly tools: number;
  readonly protected: number;
  readonly newestGroup: number;
  /** What all of them may take together. */
  readonly budget: number;
}

/** Tokens are of the whole next request, corrected. */
interface Measured {
  readonly tokensBefore: number;
  /** Correction that the figures were multiplied by. */
  readonly factor: number;
}

interface Edited {
  readonly edits: readonly ViewEdit[];
  /** The view with the edits. */
  readonly view: View;
  readonly tokensAfterEdits: number;
}

/** View edits alone make it fit. */
export interface EditsPlan extends Measured, Edited {
  readonly kind: 'edits';
}

/** A summary replaces a prefix. */
export interface SummaryPlan extends Measured, Edited {
  /** `edits` touch what stays only: the rest is summarised as the model saw it, and its prefix stays in the cache. */
  readonly kind: 'cut';
  readonly cut: CutPoint;
  /** Tokens of the dropped items and of the earlier summary, uncorrected. */
  readonly replacedTokens: number;
  /** Most tokens of the summary, uncorrected: by the estimator that measures texts. */
  readonly summaryTokens: number;
  /** With a summary of the largest size. */
  readonly tokensAtMost: number;
}

export interface NothingPlan extends Measured {
  readonly kind: 'nothing';
}

/** System prompt, tools, protected items and the newest group are too much even when shortened. */
export interface UnfittablePlan extends Measured {
  readonly kind: 'unfittable';
  readonly breakdown: UnfittableBreakdown;
  readonly message: string;
}

export type CutPlan = NothingPlan | EditsPlan | SummaryPlan | UnfittablePlan;

/**
 * What a compaction is to do: view edits where they are enough, else a cut by whole groups with room for a summary, with
 * edits of the tail where even that would not fit. Pure; the view is changed by committing what is returned.
 */
export function planCut(input: PlanInput): CutPlan {
  const scale = scaleOf(input);
  const maintained = maintenance(input, scale);
  const after = scale.base + viewTokens(maintained.view);
  const forced = input.trigger === 'manual' || overTurns(input);
  if (!forced && maintained.edits.length > 0 && after <= scale.editsTarget) {
    return editsPlan(scale, maintained.edits, maintained.view);
  }
  const cut = cutFor(input, scale);
  if (cut !== undefined) return cutPlan(input, scale, cut, maintained.edits);
  if (maintained.edits.length > 0 && after <= scale.threshold) {
    return editsPlan(scale, maintained.edits, maintained.view);
  }
  if (after <= scale.threshold) return { ...measured(scale), kind: 'nothing' };
  return shrunkPlan(input, scale, maintained.view);
}

/** All limits in tokens of the uncorrected estimator, so that items and texts are compared with them as they are. */
interface Scale {
  readonly factor: number;
  readonly tokensBefore: number;
  readonly base: number;
  readonly budget: number;
  readonly threshold: number;
  readonly editsTarget: number;
  readonly cutTarget: number;
  readonly keepRecent: number;
  readonly summary: number;
  readonly outputCap: number;
}

function scaleOf({ view, window, systemTokens, toolsTokens, tokens }: PlanInput): Scale {
  const base = systemTokens + toolsTokens;
  const raw = Math.max(1, base + viewTokens(view));
  const factor = tokens === undefined ? 1 : clampedFactor(tokens / raw);
  const uncorrected = (real: number): number => Math.max(1, Math.floor(real / factor));
  const threshold = uncorrected(window.hardThreshold);
  return {
    factor,
    tokensBefore: tokens ?? Math.ceil(raw * factor),
    base,
    budget: uncorrected(window.budget),
    threshold,
    editsTarget: Math.floor(threshold * EDITS_TARGET),
    cutTarget: Math.floor(threshold * CUT_TARGET),
    keepRecent: uncorrected(window.keepRecent),
    summary: Math.max(MIN_SUMMARY, uncorrected(Math.min(MAX_SUMMARY, window.budget * SUMMARY_SHARE))),
    outputCap: uncorrected(window.toolOutputCap),
  };
}

function measured({ tokensBefore, factor }: Scale): Measured {
  return { tokensBefore, factor };
}

function corrected({ factor }: Scale, tokens: number): number {
  return Math.ceil(tokens * factor);
}

function maintenance(input: PlanInput, { outputCap }: Scale): { edits: readonly ViewEdit[]; view: View } {
  const { view, config, semanticOf, maxMediaBytes } = input;
  const { edits } = maintainView(view, {
    outputCap,
    keepRecentMessages: config.keepRecentMessages,
    compactThinking: config.compactThinking,
    ...(semanticOf === undefined ? {} : { semanticOf }),
    ...(maxMediaBytes === undefined ? {} : { maxMediaBytes }),
  });
  const kept = keepIdentifiers(view, edits);
  return { edits: kept, view: withEdits(view, kept) };
}

function overTurns({ view, config, trigger }: PlanInput): boolean {
  const { maxHistoryTurns } = config;
  return trigger === 'pre_turn' && maxHistoryTurns !== null && turnsOf(view) > maxHistoryTurns;
}

function editsPlan(scale: Scale, edits: readonly ViewEdit[], view: View): EditsPlan {
  const tokensAfterEdits = corrected(scale, scale.base + viewTokens(view));
  return { ...measured(scale), kind: 'edits', edits, view, tokensAfterEdits };
}

function cutFor(input: PlanInput, scale: Scale): CutPoint | undefined {
  const { view, trigger, config } = input;
  const protect = protectedSeqs(input, scale);
  const guarded = new Set(protect);
  const protectedTokens = itemsTokens(view.parts.filter(({ seq }) => guarded.has(seq ?? -1)).map(({ item }) => item));
  const half = trigger === 'manual' ? Math.floor(viewTokens(view) / 2) : scale.keepRecent;
  const room = scale.cutTarget - scale.base - protectedTokens - scale.summary;
  const { maxHistoryTurns } = config;
  const cut = cutPoint(view, {
    keepRecent: Math.max(1, Math.min(scale.keepRecent, half, room)),
    protect,
    ...(maxHistoryTurns === null
      ? {}
      : { maxTurns: overTurns(input) ? turnsToKeep(maxHistoryTurns) : maxHistoryTurns }),
  });
  return cut !== undefined && replacedTokens(view, cut) >= MIN_REPLACED ? cut : undefined;
}

/**
 * Messages of the open run, as far as they have room: its first, which is the task, then the newest. A run may be steered
 * hundreds of times; what is beyond the room is summarised with its exact names.
 */
function protectedSeqs({ view, openRunId }: PlanInput, { budget }: Scale): readonly number[] {
  const open = unansweredSeqs(view.input.entries, openRunId);
  const sizes = new Map(view.parts.map(({ seq, item }) => [seq, knownItemTokens(cutProtected(item, budget))]));
  const shown = open.filter((seq) => sizes.has(seq));
  const byWorth = [...shown.slice(0, 1), ...shown.slice(1).toReversed()];
  const kept: number[] = [];
  let room = budget * PROTECTED_SHARE;
  for (const seq of byWorth) {
    room -= sizes.get(seq) ?? 0;
    if (room < 0 && kept.length > 0) break;
    kept.push(seq);
  }
  return kept.sort((a, b) => a - b);
}

/** Tokens of what a summary would stand for: the dropped items and the summary before. */
function replacedTokens(view: View, cut: CutPoint): number {
  return cut.droppedTokens + previousTokens(view);
}

function previousTokens(view: View): number {
  return itemsTokens(view.parts.filter(({ state }) => state === 'summary').map(({ item }) => item));
}

function cutPlan(input: PlanInput, scale: Scale, cut: CutPoint, maintained: readonly ViewEdit[]): CutPlan {
  const dropped = new Set(cut.dropped.map(({ seq }) => seq));
  const ofTail = maintained.filter(({ seq, action }) => !dropped.has(seq) && action.type !== 'remove_reasoning');
  const view = withEdits(input.view, ofTail);
  const grown = previousTokens(view) + Math.floor(cut.droppedTokens * SUMMARY_GROWTH);
  const most = Math.min(scale.summary, grown);
  const least = Math.min(MIN_SUMMARY, most);
  const kept = viewTokens(afterCut(view, cut));
  const summaryTokens = Math.max(least, Math.min(most, scale.threshold - scale.base - kept));
  const target = scale.threshold - scale.base - summaryTokens;
  if (kept <= target) return summaryPlan(input.view, scale, cut, { edits: ofTail, view, summaryTokens });

  const { edits, view: small } = shrinkView(afterCut(view, cut), {
    target: Math.max(1, target),
    outputCap: scale.outputCap,
  });
  if (scale.base + viewTokens(small) + least > scale.budget) return unfittable(input, scale, small);
  return summaryPlan(input.view, scale, cut, {
    edits: [...ofTail, ...edits],
    view: withEdits(view, edits),
    summaryTokens,
  });
}

function summaryPlan(
  before: View,
  scale: Scale,
  cut: CutPoint,
  plan: { readonly edits: readonly ViewEdit[]; readonly view: View; readonly summaryTokens: number },
): SummaryPlan {
  return {
    ...measured(scale),
    kind: 'cut',
    ...plan,
    cut,
    replacedTokens: replacedTokens(before, cut),
    tokensAfterEdits: corrected(scale, scale.base + viewTokens(plan.view)),
    tokensAtMost: corrected(scale, scale.base + viewTokens(afterCut(plan.view, cut)) + plan.summaryTokens),
  };
}

/** The view as it will be, with an empty summary in its place. */
function afterCut(view: View, { firstKeptSeq, protectedSeqs }: CutPoint): View {
  const checkpoint = { compactionId: 'planned', summary: '', firstKeptSeq, protectedSeqs };
  return buildView({ ...view.input, checkpoint });
}

/** Nothing can be summarised: what is there is shortened. */
function shrunkPlan(input: PlanInput, scale: Scale, maintained: View): CutPlan {
  const { view } = shrinkView(maintained, {
    target: Math.max(1, scale.threshold - scale.base),
    outputCap: scale.outputCap,
  });
  if (scale.base + viewTokens(view) > scale.budget) return unfittable(input, scale, view);
  const edits = (view.input.edits ?? []).slice(input.view.input.edits?.length ?? 0);
  return edits.length === 0 ? { ...measured(scale), kind: 'nothing' } : editsPlan(scale, edits, view);
}

function unfittable(input: PlanInput, scale: Scale, view: View): UnfittablePlan {
  const newest = groupsOf(view.items).at(-1);
  const newestGroup = newest === undefined ? 0 : itemsTokens(view.items.slice(newest.start, newest.end));
  const guarded = new Set(protectedSeqs(input, scale));
  const last = view.parts.slice(0, newest?.start ?? 0).filter(({ seq }) => guarded.has(seq ?? -1));
  const breakdown = {
    system: corrected(scale, input.systemTokens),
    tools: corrected(scale, input.toolsTokens),
    protected: corrected(scale, itemsTokens(last.map(({ item }) => item))),
    newestGroup: corrected(scale, newestGroup),
    budget: input.window.budget,
  };
  return { ...measured(scale), kind: 'unfittable', breakdown, message: unfittableMessage(breakdown) };
}

function unfittableMessage(parts: UnfittableBreakdown): string {
  const { system, tools, protected: guarded, newestGroup, budget } = parts;
  const list = [
    `system prompt ${system}`,
    `tools ${tools}`,
    `unanswered messages and approvals ${guarded}`,
    `newest step ${newestGroup}`,
  ];
  return `The request cannot be made smaller than ${system + tools + guarded + newestGroup} tokens, but ${budget} fit: ${list.join(', ')}.`;
}
