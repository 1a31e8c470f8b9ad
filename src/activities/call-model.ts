import { Context } from '@temporalio/activity';
import type { Activities, CallModelInput, CallModelOutput } from '../contract/activities.ts';
import { type Target, targetOf } from '../providers/request-target.ts';
import { loadMedia } from '../store/load-media.ts';
import type { LoadedRunConfig } from '../store/run-config.ts';
import type { BegunStep, CommitStep, Writer } from '../store/store.ts';
import { windowBudget } from '../transcript/budget.ts';
import { buildRequest } from '../transcript/build-request.ts';
import type { AgentEvent } from '../transcript/events.ts';
import type { AgentItem, AssistantMessage } from '../transcript/items.ts';
import type { Json, JsonObject } from '../transcript/json.ts';
import { looksLikeToolPromise as promises } from '../transcript/looks-like-tool-promise.ts';
import type { MessageRequest } from '../transcript/message.ts';
import { preview } from '../transcript/preview.ts';
import { requestMedia } from '../transcript/request-media.ts';
import type { View } from '../transcript/view.ts';
import type { ActivityDeps, AgentSpec } from './agents.ts';
import { type Answer, askModel } from './ask-model.ts';
import { controlItem } from './control-message.ts';
import { translated } from './failure.ts';
import { candidates, wantsFallback } from './fallback.ts';
import { withHeartbeat } from './heartbeat.ts';
import { acceptedMessage, textOfMessage, userItem } from './message-content.ts';
import { logContext, logProtocol } from './protocol-log.ts';
import { requestTokens, withinRate } from './rate-limit.ts';
import { outcomeOf, responseEvents, textOf } from './response-outcome.ts';
import type { RunConfigs } from './run-configs.ts';
import type { Views } from './views.ts';
import { currentWriter, runRef } from './writer.ts';

export interface CallModelDeps extends ActivityDeps {
  readonly runConfigs: RunConfigs;
  readonly views: Views;
}

/** One model call: begin (close the previous batch, join messages), stream, commit. A committed step answers from the store. */
export function createCallModel(deps: CallModelDeps): Activities['callModel'] {
  return (input) => translated(() => withHeartbeat((signal, note) => callModel(deps, input, signal, note)));
}

/** One call under way. */
interface Call {
  readonly deps: CallModelDeps;
  readonly input: CallModelInput;
  readonly writer: Writer;
  readonly run: LoadedRunConfig;
  readonly agent: AgentSpec | undefined;
  /** Last seq that the request sees. */
  readonly head: number;
  readonly view: View;
}

async function callModel(
  deps: CallModelDeps,
  input: CallModelInput,
  signal: AbortSignal,
  note: (text: string) => void,
): Promise<CallModelOutput> {
  const writer = currentWriter(input.ref.sessionId);
  const run = await deps.runConfigs(input.ref.runId);
  const { budget } = windowBudget({ window: run.config.window });
  const agent = deps.agents.get(run.config.agent);
  const begun = await begin(deps, writer, input, agent, budget);
  if (begun.status === 'committed') return { ...(begun.outcome as unknown as CallModelOutput), head: begun.head };
  if (begun.status === 'closed') return { outcome: 'closed', head: begun.head, status: begun.runStatus };

  const view = await deps.views(writer, begun.head, budget);
  logContext(deps.log, input, view);
  const call: Call = { deps, input, writer, run, agent, head: begun.head, view };
  return answered(call, signal, note);
}

async function begin(
  deps: CallModelDeps,
  writer: Writer,
  input: CallModelInput,
  agent: AgentSpec | undefined,
  budget: number,
): Promise<BegunStep> {
  const messages = await Promise.all((input.append ?? []).map((message) => acceptedMessage(deps.store, message)));
  const append: AgentItem[] = messages.map(userItem);
  if (input.control !== undefined) {
    const { items } = await deps.views(writer, input.ref.head, budget);
    const said = items.findLast((item): item is AssistantMessage => item.kind === 'assistant_message');
    append.push(controlItem(input.control, said === undefined ? '' : textOf([said]), agent?.output));
  }
  const queued = messages.map(
    (message): AgentEvent => ({
      type: 'user_message_queued',
      messageId: message.messageId,
      mode: message.mode,
      preview: preview(textOfMessage(message)),
    }),
  );
  return deps.store.beginStep(writer, {
    ref: runRef(input.ref),
    step: input.step,
    settlement: input.failures ?? {},
    append,
    joined: messages.map((message) => message.messageId),
    events: [...queued, ...restarted(input)],
  });
}

/** Tells readers to drop the text of an attempt that died. */
function restarted({ step }: CallModelInput): AgentEvent[] {
  const { attempt } = Context.current().info;
  if (attempt === 1) return [];
  return [{ type: 'model_attempt_restarted', step, attempt, reason: 'the previous attempt did not finish' }];
}

/** Asks the run's model, and its fallbacks in turn where it refuses for good; commits what came. */
async function answered(call: Call, signal: AbortSignal, note: (text: string) => void): Promise<CallModelOutput> {
  const { deps, input, run, writer } = call;
  const { model, fallbacks } = run.config;
  const names = candidates(input.model ?? model, model, fallbacks);
  const events: AgentEvent[] = [];
  for (const [index, name] of names.entries()) {
    const target = targetOf(deps.providers.resolve(name), deps.catalog);
    const { request, losses } = buildRequest(run, call.view, target);
    logProtocol(deps.log, input, target.api, request);
    if (losses.length > 0) deps.log.info({ event: 'model.called', step: input.step, model: name, losses });
    try {
      await withinRate(deps, target.provider, run, call.view);
      const media = await loadMedia(deps.store, requestMedia(request));
      const size = () => ({ estimatedInputTokens: requestTokens(run, call.view), window: run.config.window });
      const writeDeltas = (from: number, deltas: Parameters<typeof deps.store.appendDeltas>[1]['deltas']) =>
        deps.store.appendDeltas(writer, { ref: refOf(call), step: input.step, attempt: writer.attempt, from, deltas });
      const answer = await askModel({ target, request, media, signal, note, size, writeDeltas });
      return await commit(call, target, request, answer, events);
    } catch (error) {
      const next = names[index + 1];
      if (next === undefined || !wantsFallback(error, writer.attempt)) throw error;
      deps.log.warn({ event: 'model.failed', step: input.step, model: name, code: error.code, next });
      events.push({ type: 'model_fallback', step: input.step, from: name, to: next, reason: preview(error.message) });
    }
  }
  throw new TypeError('a run has at least one model');
}

async function commit(
  call: Call,
  target: Target,
  request: MessageRequest,
  answer: Answer,
  events: readonly AgentEvent[],
): Promise<CallModelOutput> {
  const { deps, input, run, agent } = call;
  const usage = 'response' in answer ? answer.response.usage : null;
  const items = 'response' in answer ? answer.response.items : answer.partial;
  const outcome =
    'response' in answer
      ? outcomeOf(answer.response, { agent, config: run.config, input })
      : ({ outcome: 'cancelled' } as const);
  const promise = 'response' in answer ? promiseEvents(call, answer, outcome) : [];
  const step: CommitStep = {
    ref: refOf(call),
    step: input.step,
    items,
    events: [
      ...repairEvents(call.view),
      ...truncatedEvents(input.step, answer),
      ...events,
      ...responseEvents(input.step, items, answer, labels(agent)),
      ...promise,
    ],
    usage,
    costUsd: usage === null ? null : deps.catalog.costUsd(usage, target.name),
    model: target.name,
    request: requestRecord(call, target, request, answer),
    outcome: {
      ...outcome,
      ...(usage === null ? {} : { contextTokens: usage.inputTokens }),
      ...(events.length === 0 ? {} : { model: target.name }),
    } as unknown as Json,
  };
  const stored = await deps.store.commitStep(call.writer, step);
  if (stored.status === 'closed') return { outcome: 'closed', head: stored.head, status: stored.runStatus };
  return { ...(stored.outcome as unknown as CallModelOutput), head: stored.head };
}

/** A final text that promises action and made no call is told of, nudged or not. */
function promiseEvents(
  { deps, input, run }: Call,
  { response }: Extract<Answer, { readonly response: unknown }>,
  outcome: { readonly outcome: string; readonly again?: unknown },
): AgentEvent[] {
  if (outcome.outcome !== 'final' || run.tools.length === 0) return [];
  const looksLikeToolPromise = promises(response.text);
  const nudged = outcome.again === 'promise';
  deps.log.info({
    event: 'agent_loop.terminal_without_tool_calls',
    run_id: input.ref.runId,
    step: input.step,
    looks_like_tool_promise: looksLikeToolPromise,
  });
  return looksLikeToolPromise
    ? [{ type: 'terminal_without_tool_calls', step: input.step, looksLikeToolPromise, nudged }]
    : [];
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

function refOf({ input, head }: Call) {
  return { ...runRef(input.ref), head };
}

/** Enough to build the same request again: everything else is frozen with the run. */
function requestRecord({ view, head }: Call, { name }: Target, request: MessageRequest, answer: Answer): JsonObject {
  const maxOutputTokens = answer.loweredOutput ?? request.maxOutputTokens ?? null;
  return {
    schemaVersion: 1,
    viewRevision: view.revision,
    model: name,
    head,
    maxOutputTokens,
    ...(answer.withoutReplay === true ? { withoutReplay: true } : {}),
  };
}
