import type { CallModelOutput } from '../contract/activities.ts';
import type { AccumulatedResponse } from '../providers/accumulator.ts';
import type { Target } from '../providers/request-target.ts';
import type { CommitStep } from '../store/store.ts';
import { fromJson, toJson } from '../store/stored-json.ts';
import type { AgentEvent } from '../transcript/events.ts';
import type { AgentItem } from '../transcript/items.ts';
import type { JsonObject } from '../transcript/json.ts';
import { looksLikeToolPromise } from '../transcript/looks-like-tool-promise.ts';
import type { MessageRequest, Usage } from '../transcript/message.ts';
import type { TokenAnchor } from '../transcript/token-anchor.ts';
import { itemTokens } from '../transcript/tokens.ts';
import type { View } from '../transcript/view.ts';
import type { AgentSpec } from './agents.ts';
import type { Answer } from './ask-model.ts';
import type { Reservation } from './budgets.ts';
import { callsOf, pollableOf, WARN_AT } from './loop-guard.ts';
import { type ModelCall, refOf, sizedRequest } from './model-call.ts';
import { delegationsOf } from './plan-delegate.ts';
import { type Outcome, outcomeOf, responseEvents } from './response-outcome.ts';
import { type Approvals, neededApprovals } from './tool-policy.ts';

/** The request as it went out, with the estimate that it went out on. */
export interface SentRequest {
  readonly request: MessageRequest;
  readonly estimatedTokens: number;
  /** Failures of the hooks around it. */
  readonly hookFailures: readonly AgentEvent[];
  /** Absent: the run has no budgets. */
  readonly reservation?: Reservation;
}

/** Commits what came of the call: a whole response, or the part that a cancel left. */
export async function commitResponse(
  call: ModelCall,
  target: Target,
  sent: SentRequest,
  answer: Answer,
  events: readonly AgentEvent[],
): Promise<CallModelOutput> {
  const { deps, input, agent } = call;
  const came = 'response' in answer ? await whole(call, answer.response) : cut(answer.partial);
  const { usage, items, outcome, approvals } = came;
  const lesson = usage === null ? undefined : await deps.estimates.learn(sizedRequest(call, target), items, usage);
  const step: CommitStep = {
    ref: refOf(call),
    step: input.step,
    items,
    events: [
      ...repairEvents(call.view),
      ...truncatedEvents(input.step, answer),
      ...events,
      ...sent.hookFailures,
      ...responseEvents(input.step, items, answer, labels(agent), approvals),
      ...came.promised,
    ],
    usage,
    costUsd: usage === null ? null : deps.catalog.costUsd(usage, target.name),
    model: target.name,
    request: requestRecord(call, target, sent, answer, lesson?.anchor),
    ...(lesson?.calibration === undefined ? {} : { calibration: lesson.calibration }),
    ...(sent.reservation === undefined ? {} : { budget: sent.reservation.settle(usage, tokensOf(items)) }),
    outcome: toJson({
      ...outcome,
      ...(usage === null ? {} : { usage }),
      ...(events.length === 0 ? {} : { model: target.name }),
    }),
  };
  const stored = await deps.store.commitStep(call.writer, step);
  if (stored.status === 'closed') return { outcome: 'closed', head: stored.head, status: stored.runStatus };
  return { ...fromJson<CallModelOutput>(stored.outcome), head: stored.head };
}

/** What is committed of an answer, and what the workflow is told. */
interface Came {
  readonly items: readonly AgentItem[];
  readonly usage: Usage | null;
  readonly outcome: Outcome;
  readonly approvals: Approvals;
  readonly promised: readonly AgentEvent[];
}

/** The part that a cancel left: nothing follows from it. */
function cut(items: readonly AgentItem[]): Came {
  return { items, usage: null, outcome: { outcome: 'cancelled' }, approvals: new Map(), promised: [] };
}

async function whole(call: ModelCall, response: AccumulatedResponse): Promise<Came> {
  const { deps, input, run, agent } = call;
  const { items, usage } = response;
  const approvals = await neededApprovals(deps, input.ref.sessionId, agent, items);
  const delegations = await delegationsOf(call, items);
  const promises = looksLikeToolPromise(response.text);
  const acted = promises && (await hasActed(call));
  const made = outcomeOf(response, { agent, config: run.config, input, approvals, delegations, promises, acted });
  const outcome = made.outcome === 'tools' ? { ...made, ...loopOf(call, items) } : made;
  return { items, usage, outcome, approvals, promised: promiseEvents(call, promises, outcome) };
}

/** Whether a tool with effects has run since a person last said something. */
async function hasActed({ deps, input, view }: ModelCall): Promise<boolean> {
  const { runId } = input.ref;
  const said = view.input.entries.findLast(
    ({ item, runId: of }) =>
      of === runId && item.kind === 'user_message' && (item.origin === 'user' || item.origin === 'steer'),
  );
  return await deps.store.hasActed(runId, said?.step ?? 0);
}

/** Calls that may be repeated once too often: once their results are known, the next step tells the model. */
function loopOf({ agent, repeats }: ModelCall, items: readonly AgentItem[]): { readonly loop?: 'warn' } {
  const batch = items.at(-1);
  if (batch?.kind !== 'tool_call_batch') return {};
  const { count, calls, warned } = repeats;
  const again = calls !== undefined && calls === callsOf(batch, pollableOf(agent));
  return again && !warned && count + 1 >= WARN_AT ? { loop: 'warn' } : {};
}

function tokensOf(items: readonly AgentItem[]): number {
  return items.reduce((sum, item) => sum + itemTokens(item), 0);
}

/** A final text that promises action and made no call is told of, nudged or not. */
function promiseEvents({ deps, input, run }: ModelCall, promises: boolean, outcome: Outcome): readonly AgentEvent[] {
  if (outcome.outcome !== 'final' || run.tools.length === 0) return [];
  const nudged = outcome.again === 'promise';
  deps.log.info({
    event: 'agent_loop.terminal_without_tool_calls',
    run_id: input.ref.runId,
    step: input.step,
    looks_like_tool_promise: promises,
  });
  if (!promises) return [];
  return [{ type: 'terminal_without_tool_calls', step: input.step, looksLikeToolPromise: true, nudged }];
}

/** Readers are told once for each request that was mended; none is, unless an old release or a person wrote the rows. */
function repairEvents({ repairs }: View): AgentEvent[] {
  return repairs.length === 0 ? [] : [{ type: 'transcript_repaired', repairs }];
}

function truncatedEvents(step: number, { truncatedInput }: Answer): AgentEvent[] {
  if (truncatedInput === undefined) return [];
  const { estimated: estimatedTokens, reported: reportedTokens } = truncatedInput;
  return [{ type: 'input_truncated_by_server', step, estimatedTokens, reportedTokens }];
}

function labels(agent: AgentSpec | undefined): (name: string, args: JsonObject) => string {
  return (name, args) => agent?.tools.get(name)?.label(args) ?? name;
}

/** Enough to build the same request again: everything else is frozen with the run. */
function requestRecord(
  { view, head }: ModelCall,
  { name }: Target,
  { request, estimatedTokens }: SentRequest,
  answer: Answer,
  anchor: TokenAnchor | undefined,
): JsonObject {
  const maxOutputTokens = answer.loweredOutput ?? request.maxOutputTokens ?? null;
  return {
    schemaVersion: 1,
    viewRevision: view.revision,
    model: name,
    head,
    maxOutputTokens,
    estimatedTokens,
    ...(answer.withoutReplay === true ? { withoutReplay: true } : {}),
    ...(anchor === undefined ? {} : { anchor: { ...anchor } }),
  };
}
