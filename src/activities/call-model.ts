import { Context } from '@temporalio/activity';
import type { Activities, CallModelInput, CallModelOutput } from '../contract/activities.ts';
import { type AccumulatedResponse, createAccumulator } from '../providers/accumulator.ts';
import type { ResolvedModel } from '../providers/registry.ts';
import type { CommitStep, Writer } from '../store/store.ts';
import type { AgentEvent } from '../transcript/events.ts';
import type { AgentItem, MediaRef, TranscriptEntry } from '../transcript/items.ts';
import type { Json, JsonObject } from '../transcript/json.ts';
import type { MessageRequest } from '../transcript/message.ts';
import type { StreamEvent } from '../transcript/stream-event.ts';
import type { ActivityDeps, AgentSpec } from './agents.ts';
import { createDeltaWriter, type DeltaWriter } from './delta-writer.ts';
import { translated } from './failure.ts';
import { cancelRequested, withHeartbeat, workerShutdown } from './heartbeat.ts';
import { loadMedia } from './media.ts';
import { acceptedMessage, userItem } from './message-content.ts';
import { buildRequest } from './model-request.ts';
import { nudgeItem } from './nudge.ts';
import { randomId } from './random-id.ts';
import { outcomeOf, responseEvents } from './response-outcome.ts';
import type { LoadedRunConfig } from './run-config.ts';
import type { ReadTranscript } from './transcripts.ts';
import { currentWriter, runRef } from './writer.ts';

export interface CallModelDeps extends ActivityDeps {
  readonly runConfig: (runId: string) => Promise<LoadedRunConfig>;
  readonly transcript: ReadTranscript;
}

/** One model call: begin (close the previous batch, join messages), stream, commit. A committed step answers from the store. */
export function createCallModel(deps: CallModelDeps): Activities['callModel'] {
  return (input) => translated(() => withHeartbeat((signal, note) => callModel(deps, input, signal, note)));
}

async function callModel(
  deps: CallModelDeps,
  input: CallModelInput,
  signal: AbortSignal,
  note: (text: string) => void,
): Promise<CallModelOutput> {
  const writer = currentWriter(input.ref.sessionId);
  const run = await deps.runConfig(input.ref.runId);
  const begun = await begin(deps, writer, input);
  if (begun.status === 'committed') return begun.outcome as unknown as CallModelOutput;
  if (begun.status === 'closed') return { outcome: 'closed', head: begun.head, status: begun.runStatus };

  const entries = await deps.transcript(input.ref.sessionId, writer.owner, begun.head);
  const target = deps.providers.resolve(run.config.model);
  const { request, repairs } = buildRequest(run, entries, target.provider.scope(target.model));
  logContext(deps, input, entries, repairs.length);
  const call: ModelCall = { deps, input, writer, run, target, request, head: begun.head, entries };
  const answer = await stream(call, signal, note);
  return commit(call, answer);
}

interface ModelCall {
  readonly deps: CallModelDeps;
  readonly input: CallModelInput;
  readonly writer: Writer;
  readonly run: LoadedRunConfig;
  readonly target: ResolvedModel;
  readonly request: MessageRequest;
  /** Last seq that the request sees. */
  readonly head: number;
  readonly entries: readonly TranscriptEntry[];
}

/** What came of a call: a whole response, or the part of one that a cancel left. */
type Answer = { readonly response: AccumulatedResponse } | { readonly partial: readonly AgentItem[] };

async function begin(deps: CallModelDeps, writer: Writer, input: CallModelInput) {
  const messages = await Promise.all((input.append ?? []).map((message) => acceptedMessage(deps.store, message)));
  const append: AgentItem[] = messages.map(userItem);
  if (input.nudge === true) append.push(nudgeItem());
  const queued = messages.map(({ messageId, mode, content }): AgentEvent => {
    const first = content.find((block) => block.type === 'text');
    return { type: 'user_message_queued', messageId, mode, preview: first?.text.slice(0, 200) ?? '' };
  });
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
  return attempt === 1
    ? []
    : [{ type: 'model_attempt_restarted', step, attempt, reason: 'the previous attempt did not finish' }];
}

async function stream(call: ModelCall, signal: AbortSignal, note: (text: string) => void): Promise<Answer> {
  const { deps, target, input, writer } = call;
  const accumulator = createAccumulator({
    response: { provider: target.provider.id, api: target.provider.api, model: target.model },
    scope: target.provider.scope(target.model),
    mintCallId: () => randomId('call_'),
    mintResponseId: () => randomId('resp_'),
  });
  const deltas = createDeltaWriter((from, batch) =>
    deps.store.appendDeltas(writer, {
      ref: { ...runRef(input.ref), head: call.head },
      step: input.step,
      attempt: writer.attempt,
      from,
      deltas: batch,
    }),
  );
  const stop = AbortSignal.any([signal, deltas.failed]);
  try {
    const media = await loadMedia(deps.store, mediaOf(call.request));
    let characters = 0;
    for await (const event of target.provider.stream(call.request, { signal: stop, media })) {
      accumulator.add(event);
      characters += report(event, deltas);
      note(`${characters} characters received`);
    }
    await deltas.close();
    return { response: accumulator.finish() };
  } catch (error) {
    await deltas.close();
    if (!signal.aborted) throw deltas.failed.aborted ? deltas.failed.reason : error;
    if (!cancelRequested()) throw workerShutdown();
    return { partial: accumulator.partial() };
  }
}

/** Shows a piece of text to readers; how many characters it had. */
function report(event: StreamEvent, deltas: DeltaWriter): number {
  switch (event.type) {
    case 'text_delta':
    case 'refusal_delta':
      deltas.add({ kind: 'text', text: event.text });
      return event.text.length;
    case 'reasoning_delta':
      deltas.add({ kind: 'reasoning', text: event.text });
      return event.text.length;
    default:
      return 0;
  }
}

async function commit(call: ModelCall, answer: Answer): Promise<CallModelOutput> {
  const { deps, input, run, target } = call;
  const agent = deps.agents.get(run.config.agent);
  const usage = 'response' in answer ? answer.response.usage : null;
  const items = 'response' in answer ? answer.response.items : answer.partial;
  const outcome =
    'response' in answer ? outcomeOf(answer.response, agent, run.config) : ({ outcome: 'cancelled' } as const);
  const commit: CommitStep = {
    ref: { ...runRef(input.ref), head: call.head },
    step: input.step,
    items,
    events: responseEvents(input.step, items, answer, labels(agent)),
    usage,
    costUsd: usage === null ? null : deps.costUsd(usage, target.name),
    model: target.name,
    request: requestRecord(call),
    outcome: { ...outcome, ...(usage === null ? {} : { contextTokens: usage.inputTokens }) } as unknown as Json,
  };
  const stored = await deps.store.commitStep(call.writer, commit);
  if (stored.status === 'closed') return { outcome: 'closed', head: stored.head, status: stored.runStatus };
  return { ...(stored.outcome as unknown as CallModelOutput), head: stored.head };
}

function labels(agent: AgentSpec | undefined): (name: string, args: JsonObject) => string {
  return (name, args) => agent?.tools.get(name)?.label(args) ?? name;
}

/** Enough to build the same request again: everything else is frozen with the run. */
function requestRecord(call: ModelCall): JsonObject {
  const { promptSha256, toolsSha256 } = call.run.config;
  return { schemaVersion: 1, viewRevision: 0, promptSha256, toolsSha256, model: call.target.name, head: call.head };
}

function mediaOf(request: MessageRequest): MediaRef[] {
  const refs: MediaRef[] = [];
  for (const message of request.messages) {
    for (const block of message.content) {
      if (block.type === 'tool_result') for (const inner of block.content) if ('media' in inner) refs.push(inner.media);
      if ('media' in block) refs.push(block.media);
    }
  }
  return refs;
}

function logContext(
  deps: CallModelDeps,
  input: CallModelInput,
  entries: readonly TranscriptEntry[],
  repairs: number,
): void {
  deps.log.info({
    event: 'session_runner.history_context_built',
    session_id: input.ref.sessionId,
    run_id: input.ref.runId,
    step: input.step,
    items: entries.length,
    tool_messages_missing_ids: repairs,
  });
}
