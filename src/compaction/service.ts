import type { CommittedPhase, PhaseRow } from '../store/compaction-port.ts';
import { loadView } from '../store/load-view.ts';
import type { RunRef, Store, Writer } from '../store/store.ts';
import { fromJson, toJson } from '../store/stored-json.ts';
import { revisionParts, revisionText } from '../store/view-revision.ts';
import type { WindowBudget } from '../transcript/budget.ts';
import type { AgentEvent, CompactionTrigger } from '../transcript/events.ts';
import type { ResultSemantic } from '../transcript/microcompact-score.ts';
import { preview } from '../transcript/preview.ts';
import { buildView, isObserved, type View, type ViewPart, viewTokens } from '../transcript/view.ts';
import type { CompactionConfig } from './config.ts';
import type { CompactionPlan, CompactionResult, CompactionSummaryDraft, PlannedCut } from './models.ts';
import { type CutPlan, planCut } from './plan-cut.ts';
import { reclaimed } from './policy.ts';

/** One compaction, as every phase of it gets it. */
export interface CompactionJob {
  readonly writer: Writer;
  readonly ref: RunRef;
  readonly step: number;
  readonly compactionId: string;
  readonly trigger: CompactionTrigger;
  readonly reason: string;
  /** Ids of the manual requests that it answers. */
  readonly requests: readonly string[];
  readonly config: CompactionConfig;
  readonly window: WindowBudget;
  /** Budget of views: see `ViewInput`. */
  readonly viewBudget: number;
  /** Bytes that media may take, where a provider refused what they took. */
  readonly maxMediaBytes?: number;
  /** Tokens of system prompt and of tools, uncorrected. */
  readonly systemTokens: number;
  readonly toolsTokens: number;
  /** What the results of a tool are worth later. */
  readonly semanticOf: (tool: string) => ResultSemantic;
  /** Size of the next request: an estimate, or what a provider named when it refused. Gets the view of now. */
  readonly tokens: (view: View) => Promise<number>;
}

/** Outcome of the first phase: go on, or it is over. */
export type Planned =
  | { readonly status: 'cut'; readonly plan: CompactionPlan; readonly cut: PlannedCut }
  | { readonly status: 'ended'; readonly result: CompactionResult }
  | { readonly status: 'closed' };

export type Ended = { readonly status: 'ended'; readonly result: CompactionResult } | { readonly status: 'closed' };

/** What a later phase works on. */
export interface PlannedJob {
  readonly plan: CompactionPlan;
  readonly cut: PlannedCut;
  /** The view that the provider was last sent, before the plan's edits. */
  readonly base: View;
  /** What the summary replaces, in order, as the model saw it. */
  readonly dropped: readonly ViewPart[];
  /** Text of the summary that it goes on from. */
  readonly previous: string | undefined;
}

/**
 * Plans and commits compactions. Every phase is stored under the compaction's id by the first who gets there, and a later
 * attempt answers from the store; history is never changed, and the view only where a phase says so.
 */
export class CompactionService {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /** Decides what is replaced and commits it, with the view edits that it wants. */
  async plan(job: CompactionJob): Promise<Planned> {
    const rows = await this.#store.phases(job.compactionId);
    const over = resultIn(rows);
    if (over !== undefined) return { status: 'ended', result: over };
    const known = planIn(rows);
    if (known !== undefined) return this.#planned(job, known);
    if (!job.config.enabled) {
      const why = 'compaction is switched off in the config';
      return this.fail(job, { outcome: 'failed', error: 'CompactionFailed', message: why });
    }
    return this.#plan(job);
  }

  async #plan(job: CompactionJob): Promise<Planned> {
    const { writer, ref } = job;
    const revision = await this.#store.viewRevision(writer.sessionId);
    const view = await this.#view(job, revision);
    const tokens = await job.tokens(view);
    const made = planCut({
      view,
      window: job.window,
      systemTokens: job.systemTokens,
      toolsTokens: job.toolsTokens,
      tokens,
      trigger: job.trigger,
      openRunId: ref.runId,
      config: job.config,
      semanticOf: job.semanticOf,
      maxMediaBytes: Math.min(job.config.maxMediaBytes, job.maxMediaBytes ?? Number.POSITIVE_INFINITY),
    });
    const plan = await this.#planOf(job, view, made);
    if (made.kind === 'unfittable') {
      return this.fail(job, { outcome: 'failed', error: 'ContextUnfittable', message: made.message }, plan);
    }
    const { trigger, compactionId } = job;
    const stored = await this.#store.commitPhase(writer, {
      ref,
      step: job.step,
      compactionId,
      phase: 'plan',
      output: toJson(plan),
      events: [{ type: 'compaction_started', compactionId, trigger, tokensBefore: plan.tokensBefore }],
      revision,
      ...(made.kind === 'nothing' ? {} : { edits: made.edits }),
    });
    if (stored.status === 'closed') return { status: 'closed' };
    if (stored.status === 'stale') return this.#end(job, { ...resultOf(job, plan), outcome: 'stale' });
    return this.#planned(job, fromJson<CompactionPlan>(stored.output));
  }

  /** The second half of planning: what needs no summary is over. */
  async #planned(job: CompactionJob, plan: CompactionPlan): Promise<Planned> {
    if (plan.kind === 'cut' && plan.cut !== null) return { status: 'cut', plan, cut: plan.cut };
    const edited = plan.kind === 'edits';
    const tokensAfter = edited ? plan.tokensAfterEdits : plan.tokensBefore;
    return this.#end(job, {
      ...resultOf(job, plan),
      outcome: edited ? 'edited' : 'nothing',
      tokensAfter,
      progress: edited && reclaimed(plan.tokensBefore, tokensAfter),
      edits: plan.edits,
    });
  }

  async #planOf(job: CompactionJob, view: View, made: CutPlan): Promise<CompactionPlan> {
    const { compactionId, edits } = revisionParts(view.revision);
    const added = made.kind === 'edits' || made.kind === 'cut' ? made.edits.length : 0;
    const tokensAfterEdits = made.kind === 'edits' || made.kind === 'cut' ? made.tokensAfterEdits : made.tokensBefore;
    return {
      schemaVersion: 1,
      trigger: job.trigger,
      reason: job.reason,
      kind: made.kind === 'unfittable' ? 'nothing' : made.kind,
      baseRevision: view.revision,
      viewRevision: revisionText({ compactionId, edits: edits + added }),
      head: job.ref.head,
      tokensBefore: made.tokensBefore,
      tokensAfterEdits,
      factor: made.factor,
      optional: tokensAfterEdits <= job.window.hardThreshold && job.trigger !== 'overflow_retry',
      edits: added,
      cut: made.kind === 'cut' ? await this.#cutOf(job, made, compactionId) : null,
    };
  }

  async #cutOf(
    { writer }: CompactionJob,
    { cut, replacedTokens, summaryTokens }: Extract<CutPlan, { kind: 'cut' }>,
    previous: string | undefined,
  ): Promise<PlannedCut> {
    const before = previous === undefined ? undefined : await this.#store.checkpoint(writer.sessionId, previous);
    const fromSeq = Math.min(before?.firstKeptSeq ?? 1, ...cut.dropped.flatMap(({ seq }) => seq ?? []));
    const toSeq = cut.firstKeptSeq - 1;
    return {
      firstKeptSeq: cut.firstKeptSeq,
      protectedSeqs: cut.protectedSeqs,
      fromSeq,
      toSeq,
      droppedItems: cut.dropped.length,
      droppedTokens: cut.droppedTokens,
      replacedTokens,
      sourceHash: await this.#store.sourceHash(writer.sessionId, fromSeq, toSeq),
      previous: previous ?? null,
      summaryTokens,
    };
  }

  /** What the plan of the compaction is about; `ended` when it is over already. */
  async planned(job: CompactionJob): Promise<PlannedJob | Ended> {
    const rows = await this.#store.phases(job.compactionId);
    const over = resultIn(rows);
    if (over !== undefined) return { status: 'ended', result: over };
    const plan = planIn(rows);
    if (plan === undefined || plan.cut === null) throw new TypeError(`compaction ${job.compactionId} has no plan`);
    const { cut } = plan;
    const base = await this.#view(job, plan.baseRevision, plan.head);
    const kept = new Set(cut.protectedSeqs);
    const dropped = base.parts.filter(
      ({ seq, state, item }) =>
        state !== 'summary' && seq !== null && seq < cut.firstKeptSeq && !kept.has(seq) && !isObserved(item),
    );
    const previous =
      cut.previous === null ? undefined : (await this.#store.checkpoint(job.writer.sessionId, cut.previous))?.summary;
    return { plan, cut, base, dropped, previous };
  }

  /** Commits the checkpoint: from here on the view shows the summary. */
  async commit(job: CompactionJob): Promise<Ended> {
    const rows = await this.#store.phases(job.compactionId);
    const over = resultIn(rows);
    if (over !== undefined) return { status: 'ended', result: over };
    const plan = planIn(rows);
    const draft = outputOf<CompactionSummaryDraft>(rows, 'summary');
    if (plan === undefined || plan.cut === null || draft === undefined) {
      throw new TypeError(`compaction ${job.compactionId} has no summary to commit`);
    }
    const { cut } = plan;
    const tokensAfter = await this.#tokensAfter(job, plan, cut, draft);
    const { droppedItems, droppedTokens, fromSeq, toSeq, protectedSeqs } = cut;
    const result: CompactionResult = {
      ...resultOf(job, plan),
      outcome: 'compacted',
      tokensAfter,
      progress: reclaimed(plan.tokensBefore, tokensAfter),
      mode: draft.mode,
      ...(draft.model === undefined ? {} : { model: draft.model }),
      costUsd: costOf(rows),
      cut: { droppedItems, droppedTokens, fromSeq, toSeq, protectedSeqs },
      edits: plan.edits,
      quality: draft.quality,
    };
    const slash = draft.model?.indexOf('/') ?? -1;
    const stored = await this.#store.commitCheckpoint(job.writer, {
      ref: job.ref,
      step: job.step,
      compactionId: job.compactionId,
      trigger: job.trigger,
      reason: job.reason,
      summary: draft.text,
      firstKeptSeq: cut.firstKeptSeq,
      protectedSeqs,
      fromSeq,
      toSeq,
      sourceHash: cut.sourceHash,
      tokensBefore: plan.tokensBefore,
      tokensAfter,
      providerId: slash < 0 ? '' : (draft.model ?? '').slice(0, slash),
      model: draft.model ?? '',
      quality: toJson(draft.quality),
      metadata: { mode: draft.mode, calls: draft.calls, run: job.ref.runId, step: job.step, previous: cut.previous },
      revision: plan.viewRevision,
      output: toJson(result),
      events: [completed(result)],
    });
    return stored.status === 'stale' ? this.#end(job, { ...result, outcome: 'stale', progress: false }) : ended(stored);
  }

  /** Tells that the compaction did not come about; history is as it was, and edits of its plan stay. */
  async fail(
    job: CompactionJob,
    failure: { readonly outcome: 'failed' | 'cancelled'; readonly error: string; readonly message: string },
    made?: CompactionPlan,
  ): Promise<Ended> {
    const rows = await this.#store.phases(job.compactionId);
    const over = resultIn(rows);
    if (over !== undefined) return { status: 'ended', result: over };
    const plan = planIn(rows) ?? made;
    const { outcome, error } = failure;
    const message = preview(failure.message);
    const tokensAfter = plan?.tokensAfterEdits ?? 0;
    const base = plan === undefined ? resultOf(job) : resultOf(job, plan);
    return this.#end(job, { ...base, outcome, tokensAfter, progress: false, costUsd: costOf(rows), error, message });
  }

  async #end(job: CompactionJob, result: CompactionResult): Promise<Ended> {
    const stored = await this.#store.commitPhase(job.writer, {
      ref: job.ref,
      step: job.step,
      compactionId: job.compactionId,
      phase: 'result',
      output: toJson(result),
      events: [completed(result)],
    });
    return ended(stored);
  }

  #view({ writer, ref, viewBudget }: CompactionJob, revision: string, head = ref.head): Promise<View> {
    return loadView(this.#store, writer.sessionId, { revision, head, budget: viewBudget });
  }

  async #tokensAfter(
    job: CompactionJob,
    plan: CompactionPlan,
    { firstKeptSeq, protectedSeqs }: PlannedCut,
    draft: CompactionSummaryDraft,
  ): Promise<number> {
    const view = await this.#view(job, plan.viewRevision, plan.head);
    const checkpoint = { compactionId: job.compactionId, summary: draft.text, firstKeptSeq, protectedSeqs };
    const after = buildView({ ...view.input, checkpoint });
    return Math.ceil((job.systemTokens + job.toolsTokens + viewTokens(after)) * plan.factor);
  }
}

function ended(stored: CommittedPhase): Ended {
  if (stored.status === 'committed') {
    return { status: 'ended', result: fromJson<CompactionResult>(stored.output) };
  }
  return { status: 'closed' };
}

function resultIn(rows: readonly PhaseRow[]): CompactionResult | undefined {
  return outputOf<CompactionResult>(rows, 'result');
}

function planIn(rows: readonly PhaseRow[]): CompactionPlan | undefined {
  return outputOf<CompactionPlan>(rows, 'plan');
}

function outputOf<T>(rows: readonly PhaseRow[], wanted: string): T | undefined {
  const row = rows.find(({ phase }) => phase === wanted);
  return row === undefined ? undefined : fromJson<T>(row.output);
}

/** `null` when the price of some call is not known. */
function costOf(rows: readonly PhaseRow[]): number | null {
  const costs = rows.flatMap(({ usage }) => usage.map(({ costUsd }) => costUsd));
  return costs.reduce<number | null>((sum, cost) => (sum === null || cost === null ? null : sum + cost), 0);
}

function resultOf(job: CompactionJob, plan?: CompactionPlan): CompactionResult {
  const tokens = plan?.tokensBefore ?? 0;
  return {
    schemaVersion: 1,
    compactionId: job.compactionId,
    trigger: job.trigger,
    outcome: 'nothing',
    tokensBefore: tokens,
    tokensAfter: tokens,
    progress: false,
    requests: job.requests,
  };
}

function completed(result: CompactionResult): AgentEvent {
  const { compactionId, outcome, tokensBefore, tokensAfter, error = outcome, message = outcome } = result;
  if (outcome === 'failed' || outcome === 'cancelled' || outcome === 'stale') {
    return { type: 'compaction_failed', compactionId, error, message };
  }
  const { mode, model, costUsd, cut, edits, quality, trigger } = result;
  const detail = { outcome, trigger, mode, model, costUsd, cut, edits, quality };
  return {
    type: 'compaction_completed',
    compactionId,
    tokensBefore,
    tokensAfter,
    detail: JSON.parse(JSON.stringify(detail)),
  };
}
