import type { Activities, CallModelInput, CallModelOutput } from '../contract/activities.ts';
import { ProviderError } from '../providers/errors.ts';
import { type Target, targetOf } from '../providers/request-target.ts';
import { loadMedia } from '../store/load-media.ts';
import { fromJson } from '../store/stored-json.ts';
import { buildRequest } from '../transcript/build-request.ts';
import type { AgentEvent } from '../transcript/events.ts';
import type { Json } from '../transcript/json.ts';
import { viewMediaBytes } from '../transcript/media-edits.ts';
import { preview } from '../transcript/preview.ts';
import { requestMedia } from '../transcript/request-media.ts';
import { compactionOf } from './agents.ts';
import { type Answer, askModel, type Question } from './ask-model.ts';
import { beginModelStep } from './begin-model-step.ts';
import { reserveStep } from './budgets.ts';
import { commitResponse } from './commit-response.ts';
import { mintCompaction, neededCompaction } from './compaction-check.ts';
import { translated } from './failure.ts';
import { candidates, wantsFallback } from './fallback.ts';
import { withHeartbeat } from './heartbeat.ts';
import { aroundModel } from './hook-calls.ts';
import { END_AT, pollableOf, viewRepeats } from './loop-guard.ts';
import { type ModelCall, refOf, type SharedDeps, sizedRequest } from './model-call.ts';
import { logContext, logProtocol } from './protocol-log.ts';
import { withinRate } from './rate-limit.ts';
import { agentOf } from './run-agent.ts';
import { requestBudget, viewBudget } from './window.ts';
import { currentWriter } from './writer.ts';

/** One model call: begin (close the previous batch, join messages), stream, commit. A committed step answers from the store. */
export function createCallModel(deps: SharedDeps): Activities['callModel'] {
  return (input) => translated(() => withHeartbeat((signal, note) => callModel(deps, input, signal, note)));
}

async function callModel(
  deps: SharedDeps,
  input: CallModelInput,
  signal: AbortSignal,
  note: (text: string) => void,
): Promise<CallModelOutput> {
  const writer = currentWriter(input.ref.sessionId);
  const run = await deps.runConfigs(input.ref.runId);
  const agent = agentOf(deps, run);
  const begun = await beginModelStep({ store: deps.store, writer, input, agent, model: run.config.model });
  if (begun.status === 'committed') return { ...fromJson<CallModelOutput>(begun.outcome), head: begun.head };
  if (begun.status === 'closed') return { outcome: 'closed', head: begun.head, status: begun.runStatus };
  const { head, revision } = begun;
  if (input.compact !== undefined) {
    return { outcome: 'compact', head, compaction: mintCompaction({ trigger: 'manual', reason: 'asked for' }) };
  }
  const view = await deps.views({ ...writer, revision, head, budget: viewBudget(run.config.window) });
  logContext(deps.log, input, view);
  const { sessionId, runId } = input.ref;
  const repeats = await viewRepeats(deps.store, { sessionId, runId, head }, view, pollableOf(agent));
  const call: ModelCall = { deps, input, writer, run, agent, head, view, repeats };
  if (repeats.count >= END_AT) {
    const message = `the model repeated the same call with the same result ${repeats.count} times in a row`;
    return { outcome: 'failed', head, error: 'ToolLoop', message };
  }
  return answered(call, signal, note);
}

/** Asks the run's model, and its fallbacks in turn where it refuses for good; commits what came. */
async function answered(call: ModelCall, signal: AbortSignal, note: (text: string) => void): Promise<CallModelOutput> {
  const { deps, input, run, writer } = call;
  const { model, fallbacks } = run.config;
  const names = candidates(input.model ?? model, model, fallbacks);
  const events: AgentEvent[] = [];
  const hookFailures: AgentEvent[] = [];
  for (const [index, name] of names.entries()) {
    const target = targetOf(deps.providers.resolve(name), deps.catalog);
    const { tokens } = await deps.estimates.estimate(sizedRequest(call, target));
    const compaction = await compactionBefore(call, target, tokens, names[index - 1]);
    if (compaction !== undefined) {
      return { outcome: 'compact', head: call.head, compaction, ...(index === 0 ? {} : { model: name }) };
    }
    try {
      return await asked(call, { target, tokens, events, hookFailures }, signal, note);
    } catch (error) {
      const overflow = compactionAfter(call, target, error);
      if (overflow !== undefined) {
        return { outcome: 'overflow', head: call.head, compaction: overflow, ...(index === 0 ? {} : { model: name }) };
      }
      const next = names[index + 1];
      if (next === undefined || !wantsFallback(error, writer.attempt)) throw error;
      deps.log.warn({ event: 'model.failed', step: input.step, model: name, code: error.code, next });
      events.push({ type: 'model_fallback', step: input.step, from: name, to: next, reason: preview(error.message) });
    }
  }
  throw new TypeError('a run has at least one model');
}

interface Ask {
  readonly target: Target;
  /** Our estimate of the request. */
  readonly tokens: number;
  readonly events: readonly AgentEvent[];
  readonly hookFailures: AgentEvent[];
}

/** One request to one model. */
async function asked(
  call: ModelCall,
  { target, tokens, events, hookFailures }: Ask,
  signal: AbortSignal,
  note: (text: string) => void,
): Promise<CallModelOutput> {
  const { deps, input, run, writer } = call;
  const { request, losses } = buildRequest(run, call.view, target);
  logProtocol(deps.log, input, target.api, request);
  if (losses.length > 0) deps.log.info({ event: 'model.called', step: input.step, model: target.name, losses });
  const reserved = await reserveStep(call, target, tokens, request.maxOutputTokens);
  if ('outcome' in reserved) return reserved.outcome;
  await withinRate(deps, target.provider, tokens);
  const media = await loadMedia(deps.store, requestMedia(request));
  const question: Question = {
    target,
    request,
    media,
    signal,
    note,
    size: () => ({ estimatedInputTokens: tokens, window: run.config.window }),
    writeDeltas: (from, deltas) =>
      deps.store.appendDeltas(writer, { ref: refOf(call), step: input.step, attempt: writer.attempt, from, deltas }),
  };
  const answer = await aroundModel(deps, input, request, hookFailures, () => askModel(question), told(target.name));
  const sent = { request, estimatedTokens: tokens, hookFailures, ...reserved };
  return await commitResponse(call, target, sent, answer, events);
}

/** What hooks hear of an answer. */
function told(model: string) {
  return (answer: Answer): Readonly<Record<string, Json>> => {
    if (!('response' in answer)) return { model, outcome: 'cancelled' };
    const { stopReason, usage, text } = answer.response;
    const used = usage === null ? {} : { usage: { ...usage } };
    return { model, outcome: stopReason.unified, preview: preview(text), ...used };
  };
}

/** The compaction that a request to `target` must wait for. */
async function compactionBefore(call: ModelCall, target: Target, tokens: number, refused: string | undefined) {
  const { deps, input, run, agent, view } = call;
  const config = compactionOf(deps, agent);
  const window = requestBudget(deps, run.config, target.name, config, input.window);
  return neededCompaction(deps, {
    sessionId: input.ref.sessionId,
    step: input.step,
    run,
    view,
    model: target.name,
    tokens,
    window,
    idleCompactions: input.idleCompactions ?? 0,
    afterCompaction: input.afterCompaction,
    config,
    ...(refused === undefined
      ? {}
      : { previousWindow: requestBudget(deps, run.config, refused, config, undefined).window }),
  });
}

/** What an overflow asks for: a compaction, once per model call. */
function compactionAfter({ deps, agent, input, run, view }: ModelCall, { name }: Target, error: unknown) {
  if (!(error instanceof ProviderError)) return undefined;
  const config = compactionOf(deps, agent);
  if (!config.enabled || !config.autoEnabled || input.afterCompaction?.trigger === 'overflow_retry') return undefined;
  const bytes = viewMediaBytes(view);
  if (error.code === 'request_too_large' && bytes > 0) {
    const maxMediaBytes = Math.floor(bytes / 2);
    return mintCompaction({ trigger: 'overflow_retry', reason: preview(error.message), maxMediaBytes });
  }
  if (error.code !== 'context_overflow') return undefined;
  const { limit, input: counted, requested } = error.numbers;
  const tokens = counted ?? requested;
  const { window } = requestBudget(deps, run.config, name, config, input.window);
  return mintCompaction({
    trigger: 'overflow_retry',
    reason: preview(error.message),
    ...(limit !== undefined && limit < window ? { window: limit } : {}),
    ...(tokens === undefined ? {} : { tokens }),
  });
}
