import { CancelledFailure, Context } from '@temporalio/activity';
import type { CompactionSummaryDraft } from '../compaction/models.ts';
import type { CompactionService, PlannedJob } from '../compaction/service.ts';
import { type SummaryAnswer, type SummaryRequest, summarise } from '../compaction/summarise.ts';
import { HoldfastError } from '../contract/errors.ts';
import { ProviderError } from '../providers/errors.ts';
import { type Target, targetOf } from '../providers/request-target.ts';
import type { BudgetSettlement } from '../store/budget-port.ts';
import type { CommittedPhase } from '../store/compaction-port.ts';
import { loadMedia } from '../store/load-media.ts';
import { fromJson, toJson } from '../store/stored-json.ts';
import { windowBudget } from '../transcript/budget.ts';
import { buildRequest } from '../transcript/build-request.ts';
import type { Json } from '../transcript/json.ts';
import type { Message, MessageRequest, Usage } from '../transcript/message.ts';
import { requestMedia } from '../transcript/request-media.ts';
import { textTokens } from '../transcript/text-tokens.ts';
import { messageTokens, toolsTokens } from '../transcript/tokens.ts';
import { viewTokens } from '../transcript/view.ts';
import { askModel } from './ask-model.ts';
import { type Reservation, type Reserved, reserve } from './budgets.ts';
import type { CompactionContext } from './compaction-context.ts';
import { baseTokens } from './estimates.ts';
import type { SharedDeps } from './model-call.ts';
import { withinRate } from './rate-limit.ts';

export interface SummaryTask {
  readonly deps: SharedDeps;
  readonly service: CompactionService;
  readonly context: CompactionContext;
  readonly signal: AbortSignal;
  readonly note: (text: string) => void;
}

/** Attempts, over some minutes, after which a provider that is away counts as one that refused. */
const ATTEMPTS = 8;

/** Room for the message that a ride puts after the agent's request, in tokens. */
const RIDE_MESSAGE = 2500;

/**
 * The `summary` phase: asks, measures, asks again; each answer is committed under its number before the next question, so
 * that a retry pays for none twice. Returns a line for people.
 *
 * @throws HoldfastError `CompactionFailed` when no model wrote a usable summary and the request fits without one.
 */
export async function writeSummary(task: SummaryTask): Promise<string> {
  const { deps, service, context } = task;
  const { job, run } = context;
  const known = (await deps.store.phases(job.compactionId)).find(({ phase }) => phase === 'summary');
  if (known !== undefined) return label(fromJson<CompactionSummaryDraft>(known.output));
  const planned = await service.planned(job);
  if ('status' in planned) return 'over';
  const scribe = scribeOf(task, planned);
  const draft = await summarise({
    dropped: planned.dropped,
    ...firstKept(planned),
    ...(planned.previous === undefined ? {} : { previous: planned.previous }),
    limitTokens: planned.cut.summaryTokens,
    replacedTokens: planned.cut.replacedTokens,
    ride: scribe.ride,
    renderedTokens: scribe.renderedTokens,
    outputTokens: scribe.outputTokens,
    tools: run.tools.map(({ name }) => name),
    effects: context.fileEffects,
    ...(context.instructions === undefined ? {} : { instructions: context.instructions }),
    ask: async (request) =>
      writesNone(scribe)
        ? { outcome: 'failed', message: `${scribe.target.name} writes no summaries` }
        : answered(task, planned, scribe, request),
  });
  if (draft.mode === 'extractive' && planned.plan.optional && !writesNone(scribe)) {
    const why = draft.quality.problems.join('; ') || 'no usable answer';
    throw new HoldfastError('CompactionFailed', `no model wrote a usable summary: ${why.slice(0, 400)}`);
  }
  expectOpen(await commit(task, 'summary', toJson(draft), []));
  return label(draft);
}

/** The built-in model answers by quoting: a summary that quotes is the best that can be had of it. */
function writesNone({ target }: Scribe): boolean {
  return target.api === 'offline';
}

function label({ mode, quality }: CompactionSummaryDraft): string {
  return `${mode} · ${quality.tokens} tokens · recall ${quality.identifierRecall.toFixed(2)}`;
}

function firstKept({ base, cut }: PlannedJob) {
  const part = base.parts.find(({ seq }) => seq !== null && seq >= cut.firstKeptSeq);
  return part === undefined ? {} : { firstKept: part };
}

/** Who writes the summary, and how much it may read and write. */
interface Scribe {
  readonly target: Target;
  readonly window: number;
  readonly ride: boolean;
  /** What a ride leaves for the answer. */
  readonly rideRoom: number;
  /** Uncorrected tokens of a rendered request beside its answer. */
  readonly renderedTokens: number;
  readonly outputTokens: number;
}

/** Window of a summariser of which nothing is known, in tokens. */
const UNKNOWN_WINDOW = 32_000;

function scribeOf({ deps, context }: SummaryTask, { plan, base }: PlannedJob): Scribe {
  const { job, run } = context;
  const name = job.config.model ?? context.target.name;
  const own = name === context.target.name;
  const target = own ? context.target : targetOf(deps.providers.resolve(name), deps.catalog);
  const { windowTokens, maxOutputTokens } = deps.catalog.facts(name);
  const window = own ? job.window.window : (windowTokens ?? UNKNOWN_WINDOW);
  const budget = windowBudget({ window, ...(maxOutputTokens === undefined ? {} : { outputLimit: maxOutputTokens }) });
  const rideTokens = Math.ceil((baseTokens(run) + viewTokens(base)) * plan.factor) + RIDE_MESSAGE;
  const rideRoom = window - Math.max(rideTokens, plan.tokensBefore + RIDE_MESSAGE);
  const least = run.thinking === null ? (plan.cut?.summaryTokens ?? 0) : budget.outputReserve;
  const plain = requestMedia(buildRequest(run, base, target).request).length === 0;
  return {
    target,
    window,
    rideRoom,
    ride: own && run.outputSchema === null && plain && job.trigger !== 'overflow_retry' && rideRoom >= least,
    // A factor below 1 was learnt from other text than this: it must not make a request too long.
    renderedTokens: Math.floor(budget.budget / Math.max(1, plan.factor)),
    outputTokens: budget.outputReserve,
  };
}

/** An answer to one question: as committed before, or asked for now and committed. */
async function answered(
  task: SummaryTask,
  planned: PlannedJob,
  scribe: Scribe,
  question: SummaryRequest,
): Promise<SummaryAnswer> {
  const { deps, context } = task;
  const phase = `summary/${question.piece}`;
  const rows = await deps.store.phases(context.job.compactionId);
  const known = rows.find((row) => row.phase === phase);
  if (known !== undefined) return fromJson<SummaryAnswer>(known.output);
  const request = requestFor(task, planned, scribe, question);
  const reserved = await reserveSummary(task, planned, scribe, request, phase);
  if (reserved.status === 'closed') throw closedMeanwhile();
  // Not committed: where the budget is extended before a retry, the question is asked after all.
  if (reserved.status === 'exhausted') return { outcome: 'failed', message: reserved.message };
  const { answer, usage } = await ask(task, request, scribe);
  const name = scribe.target.name;
  const costUsd = usage === null ? null : deps.catalog.costUsd(usage, name);
  const paid = answer.outcome === 'answered' ? [{ model: name, usage, costUsd }] : [];
  const settlement = reserved.status === 'none' ? undefined : settled(reserved.reservation, answer, usage);
  const stored = await commit(task, phase, toJson(answer), paid, settlement);
  return fromJson<SummaryAnswer>(expectOpen(stored));
}

function reserveSummary(
  { deps, context }: SummaryTask,
  { plan }: PlannedJob,
  { target, outputTokens }: Scribe,
  request: MessageRequest,
  phase: string,
): Promise<Reserved> {
  const { job, run } = context;
  const tokens = request.messages.reduce((sum, each) => sum + messageTokens(each), toolsTokens(request.tools));
  return reserve({
    deps,
    writer: job.writer,
    ref: job.ref,
    step: job.step,
    purpose: `compaction/${job.compactionId}/${phase}`,
    config: run.config,
    model: target.name,
    inputTokens: Math.ceil(tokens * Math.max(1, plan.factor)),
    maxOutputTokens: request.maxOutputTokens ?? outputTokens,
  });
}

/** A request that was refused used nothing. */
function settled({ settle }: Reservation, answer: SummaryAnswer, usage: Usage | null): BudgetSettlement {
  return answer.outcome === 'answered' ? settle(usage, textTokens(answer.text)) : {};
}

function requestFor(
  { context }: SummaryTask,
  { base }: PlannedJob,
  { target, rideRoom }: Scribe,
  question: SummaryRequest,
): MessageRequest {
  if (question.mode === 'ride') {
    const { request } = buildRequest(context.run, base, target);
    const maxOutputTokens = Math.min(question.maxOutputTokens, rideRoom);
    return { ...request, messages: [...request.messages, said('user', question.message)], maxOutputTokens };
  }
  const { system, text, maxOutputTokens, withoutReasoning } = question;
  return {
    model: target.model,
    messages: [said('system', system), said('user', text)],
    tools: [],
    maxOutputTokens,
    ...(withoutReasoning === true ? { thinking: 'off' } : {}),
  };
}

function said(role: 'system' | 'user', text: string): Message {
  return { role, content: [{ type: 'text', text }] };
}

async function ask(
  { deps, signal, note }: SummaryTask,
  request: MessageRequest,
  { target, window, renderedTokens }: Scribe,
): Promise<{ readonly answer: SummaryAnswer; readonly usage: Usage | null }> {
  try {
    await withinRate(deps, target.provider, renderedTokens);
    const media = await loadMedia(deps.store, requestMedia(request));
    const answer = await askModel({
      target,
      request,
      media,
      signal,
      note,
      size: () => ({ estimatedInputTokens: 0, window }),
      writeDeltas: async () => undefined,
    });
    if (!('response' in answer)) throw new CancelledFailure('the compaction was cancelled');
    const { text, items, stopReason, usage, discardedCalls } = answer.response;
    return {
      usage,
      answer: {
        outcome: 'answered',
        text,
        hadCalls: discardedCalls.length > 0 || items.some(({ kind }) => kind === 'tool_call_batch'),
        truncated: stopReason.unified === 'length',
        reasoningOnly: text.trim() === '' && items.some(({ kind }) => kind === 'reasoning_summary'),
        model: target.name,
      },
    };
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    if (error.code === 'context_overflow') {
      const { limit } = error.numbers;
      return { usage: null, answer: { outcome: 'overflow', ...(limit === undefined ? {} : { windowTokens: limit }) } };
    }
    if (error.retryable && Context.current().info.attempt < ATTEMPTS) throw error;
    return { usage: null, answer: { outcome: 'failed', message: `${target.name} refused: ${error.message}` } };
  }
}

function commit(
  { deps, context }: SummaryTask,
  phase: string,
  output: Json,
  usage: readonly { readonly model: string; readonly usage: Usage | null; readonly costUsd: number | null }[],
  budget?: BudgetSettlement,
): Promise<CommittedPhase> {
  const { job } = context;
  const { writer, ref, step, compactionId } = job;
  return deps.store.commitPhase(writer, {
    ref,
    step,
    compactionId,
    phase,
    output,
    events: [],
    usage,
    ...(budget === undefined ? {} : { budget }),
  });
}

/** What is stored; the run that closed meanwhile needs no summary. */
function expectOpen(stored: CommittedPhase): Json {
  if (stored.status === 'committed') return stored.output;
  throw closedMeanwhile();
}

function closedMeanwhile(): HoldfastError {
  return new HoldfastError('CompactionFailed', 'the run was closed while its session was compacted');
}
