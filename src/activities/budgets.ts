import type { CallModelOutput, OpenRunInput, RootRun } from '../contract/activities.ts';
import type { Target } from '../providers/request-target.ts';
import type { BudgetLimits, BudgetSettlement, BudgetUse, RunBudgets } from '../store/budget-port.ts';
import { type RunConfig, runConfigOf } from '../store/run-config.ts';
import type { RunRef, Writer } from '../store/store.ts';
import { windowBudget } from '../transcript/budget.ts';
import type { Usage } from '../transcript/message.ts';
import { type ActivityDeps, type AgentBudget, type AgentSpec, compactionOf } from './agents.ts';
import { type ModelCall, refOf } from './model-call.ts';

/** The limits that a new run works under: a subagent shares its root's, and has its agent's own within them. */
export async function budgetsOfNewRun(
  { store }: Pick<ActivityDeps, 'store'>,
  { budgets = {} }: Pick<AgentSpec, 'budgets'>,
  root: OpenRunInput['root'],
): Promise<Pick<RunConfig, 'budgets'>> {
  const run = limitsOf(budgets.run);
  const session = limitsOf(budgets.session);
  const limits: RunBudgets =
    root === undefined
      ? { ...(run === undefined ? {} : { run }), ...(session === undefined ? {} : { session }) }
      : { ...(await rootBudgets(store, root)), ...(run === undefined ? {} : { own: run }) };
  return Object.keys(limits).length === 0 ? {} : { budgets: limits };
}

async function rootBudgets(store: ActivityDeps['store'], { runId }: RootRun): Promise<RunBudgets> {
  const run = await store.run(runId);
  return run === undefined ? {} : (runConfigOf(run.config).budgets ?? {});
}

/** As a run keeps them: durations in milliseconds. */
function limitsOf(budget: AgentBudget | undefined): BudgetLimits | undefined {
  if (budget === undefined || Object.keys(budget).length === 0) return undefined;
  const { maxUsd, maxTokens, maxDuration } = budget;
  return {
    ...(maxUsd === undefined ? {} : { maxUsd }),
    ...(maxTokens === undefined ? {} : { maxTokens }),
    ...(maxDuration === undefined ? {} : { maxDurationMs: 1000 * maxDuration }),
  };
}

/** Why a run may not start: a limit in dollars holds nothing back when nobody knows what the model costs. */
export function unpriced(
  deps: Pick<ActivityDeps, 'catalog' | 'compaction'>,
  agent: AgentSpec,
  model: string,
  { budgets = {} }: Pick<RunConfig, 'budgets'>,
): string | undefined {
  if (![budgets.run, budgets.session, budgets.own].some((limits) => limits?.maxUsd !== undefined)) return undefined;
  const scribe = compactionOf(deps, agent).model;
  const models = [model, ...(agent.fallbacks ?? []), ...(scribe === null ? [] : [scribe])];
  const unknown = models.find((name) => mostUsd(deps, name, 1, 1) === null);
  if (unknown === undefined) return undefined;
  return `the budget of agent "${agent.name}" is in dollars (maxUsd), and the price of ${unknown} is not known: set models["${unknown}"].prices, or limit maxTokens instead`;
}

function mostUsd({ catalog }: Pick<ActivityDeps, 'catalog'>, model: string, input: number, output: number) {
  return catalog.costUsd(usageOf(input, output), model);
}

function usageOf(inputTokens: number, outputTokens: number): Usage {
  return { inputTokens, outputTokens, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 };
}

/** A call that has its share of the budgets, and how to settle it when it is over. */
export interface Reservation {
  /** `outputTokens` is our estimate of what came, for a provider that told no usage. */
  settle(usage: Usage | null, outputTokens: number): BudgetSettlement;
}

/** A call that is about to be made. */
export interface BudgetedCall {
  readonly deps: Pick<ActivityDeps, 'store' | 'catalog'>;
  readonly writer: Writer;
  readonly ref: RunRef;
  readonly step: number;
  readonly purpose: string;
  readonly config: RunConfig;
  readonly model: string;
  /** Our estimate of the request. */
  readonly inputTokens: number;
  readonly maxOutputTokens: number;
  readonly extension?: BudgetLimits | undefined;
  readonly workedMs?: number | undefined;
}

/** `none`: the run has no budgets. */
export type Reserved =
  | { readonly status: 'none' }
  | { readonly status: 'reserved'; readonly reservation: Reservation }
  | { readonly status: 'exhausted'; readonly message: string }
  | Extract<Awaited<ReturnType<ActivityDeps['store']['reserveBudget']>>, { status: 'closed' }>;

/** Sets aside what the call may use, before any request is made. */
export async function reserve(call: BudgetedCall): Promise<Reserved> {
  const { deps, writer, config, model, inputTokens, maxOutputTokens, ref, step, purpose } = call;
  if (config.budgets === undefined) return { status: 'none' };
  const started = performance.now();
  const answer = await deps.store.reserveBudget(writer, {
    ref,
    step,
    purpose,
    root: config.root ?? { runId: ref.runId, sessionId: writer.sessionId },
    budgets: config.budgets,
    tokens: inputTokens + maxOutputTokens,
    usd: mostUsd(deps, model, inputTokens, maxOutputTokens),
    ...(call.extension === undefined ? {} : { extension: call.extension }),
    ...(call.workedMs === undefined ? {} : { workedMs: call.workedMs }),
  });
  if (answer.status === 'closed') return answer;
  if (answer.status === 'exhausted') return { status: 'exhausted', message: exhausted(answer.use, answer.wanted) };
  const settle: Reservation['settle'] = (usage, outputTokens) => ({
    ...(usage === null ? { unreported: unreported(call, outputTokens) } : {}),
    ...(call.workedMs === undefined ? {} : { workedMs: call.workedMs + Math.round(performance.now() - started) }),
  });
  return { status: 'reserved', reservation: { settle } };
}

function unreported({ deps, model, inputTokens }: BudgetedCall, outputTokens: number) {
  return { tokens: inputTokens + outputTokens, usd: mostUsd(deps, model, inputTokens, outputTokens) };
}

/** One sentence for people. */
function exhausted({ scope, limit, used, max }: BudgetUse, wanted: number): string {
  const inWords = AMOUNTS[limit];
  const next = limit === 'maxDurationMs' ? '' : `, and the next model call may take ${inWords(wanted)}`;
  return `the budget of this ${scope} is used up: ${inWords(used)} of ${inWords(max)}${next}`;
}

const AMOUNTS: Readonly<Record<keyof BudgetLimits, (amount: number) => string>> = {
  maxUsd: (usd) => `$${usd.toFixed(4)}`,
  maxTokens: (tokens) => `${tokens} tokens`,
  maxDurationMs: (ms) => `${Math.round(ms / 1000)} s`,
};

/** Reserves for a step; the outcome where it may not be made. */
export async function reserveStep(
  call: ModelCall,
  target: Target,
  inputTokens: number,
  maxOutputTokens: number | null | undefined,
): Promise<{ readonly reservation?: Reservation } | { readonly outcome: CallModelOutput }> {
  const { deps, writer, input, run } = call;
  const reserved = await reserve({
    deps,
    writer,
    ref: refOf(call),
    step: input.step,
    purpose: 'step',
    config: run.config,
    model: target.name,
    inputTokens,
    maxOutputTokens: maxOutputTokens ?? windowBudget({ window: run.config.window }).outputReserve,
    extension: input.extension,
    workedMs: input.workedMs,
  });
  switch (reserved.status) {
    case 'none':
      return {};
    case 'reserved':
      return { reservation: reserved.reservation };
    case 'exhausted':
      return { outcome: { outcome: 'over_budget', head: call.head, message: reserved.message } };
    case 'closed':
      return { outcome: { outcome: 'closed', head: reserved.head, status: reserved.runStatus } };
  }
}
