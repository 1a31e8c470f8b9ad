import { Context } from '@temporalio/activity';
import type { Activities, CallToolInput, CallToolOutput } from '../contract/activities.ts';
import { HoldfastError } from '../contract/errors.ts';
import { storeBehind } from '../store/refusals.ts';
import type { EffectClass, Store, StoredResult, Writer } from '../store/store.ts';
import { effectClass } from '../tools/effect-class.ts';
import type { Tool } from '../tools/tool.ts';
import { windowBudget } from '../transcript/budget.ts';
import type { AgentEvent } from '../transcript/events.ts';
import type { ToolCall, ToolResult } from '../transcript/items.ts';
import { preview } from '../transcript/preview.ts';
import { syntheticResult, unparsableResult } from '../transcript/synthetic-result.ts';
import { outputCaps } from '../transcript/truncate.ts';
import type { ActivityDeps } from './agents.ts';
import { translated } from './failure.ts';
import { cancelRequested, withHeartbeat, workerShutdown } from './heartbeat.ts';
import type { SharedDeps } from './model-call.ts';
import { type Executed, execute } from './tool-execution.ts';
import { currentWriter, runRef } from './writer.ts';

/** A call that takes longer than this is announced as started by itself; a quicker one in the transaction of its result. */
const ANNOUNCE_AFTER_MS = 150;
/** How long an at-most-once call may go without a heartbeat before another attempt may ask what became of it. */
const LEASE_MS = 15_000;

export type CallToolDeps = Pick<SharedDeps, keyof ActivityDeps | 'runConfigs'>;

/** One tool call. Its result is committed before it is reported; a second attempt answers from the store. */
export function createCallTool(deps: CallToolDeps): Activities['callTool'] {
  return (input) => translated(() => withHeartbeat((signal, note) => callTool(deps, input, signal, note)));
}

async function callTool(
  deps: CallToolDeps,
  input: CallToolInput,
  signal: AbortSignal,
  note: (text: string) => void,
): Promise<CallToolOutput> {
  const writer = currentWriter(input.ref.sessionId);
  const [{ call, batchSize }, run] = await Promise.all([
    plannedCall(deps.store, input),
    deps.runConfigs(input.ref.runId),
  ]);
  const tool = deps.agents.get(run.config.agent)?.tools.get(call.name);
  const job: Job = {
    deps,
    input,
    writer,
    call,
    tool,
    effect: tool === undefined ? 'read_only' : effectClass(tool),
    label: labelOf(call, tool),
  };

  if (tool === undefined || call.argumentsError !== undefined)
    return commit(job, refusal(call, call.argumentsError), 0, true);
  const known = await beforeRunning(job);
  if (known !== undefined) return known;

  const started = performance.now();
  const announcement = announceLater(job);
  const timeoutMs = 1000 * (tool.timeoutSecs ?? run.config.toolTimeoutSecs);
  const executed = await execute({
    tool,
    call,
    input,
    signal,
    timeoutMs,
    outputTokens: outputCaps(windowBudget({ window: run.config.window }).budget, batchSize).perOutput,
    note,
    workspace: deps.workspace,
    store: deps.store,
  });
  const announced = await announcement.stop();
  if (signal.aborted && !cancelRequested()) throw workerShutdown();
  return commit(job, executed, Math.round(performance.now() - started), !announced);
}

interface Job {
  readonly deps: CallToolDeps;
  readonly input: CallToolInput;
  readonly writer: Writer;
  readonly call: ToolCall;
  readonly tool: Tool | undefined;
  readonly effect: EffectClass;
  readonly label: string;
}

/** The call as its response asked for it: the batch is the last item that the workflow knows. */
async function plannedCall(
  store: Store,
  { ref, callId }: CallToolInput,
): Promise<{ readonly call: ToolCall; readonly batchSize: number }> {
  const [entry] = await store.entries(ref.sessionId, { afterSeq: ref.head - 1, limit: 1 });
  if (entry === undefined) {
    throw storeBehind(ref.sessionId, (await store.session(ref.sessionId))?.lastSeq ?? 0, ref.head);
  }
  const calls = entry.item.kind === 'tool_call_batch' ? entry.item.calls : [];
  const call = calls.find((each) => each.callId === callId);
  if (call === undefined) throw new HoldfastError('Internal', `call ${callId} is not in the batch at seq ${ref.head}`);
  return { call, batchSize: calls.length };
}

/** The answer, when the tool must not run (again). A read-only call that runs for the first time needs no entry in the ledger. */
async function beforeRunning(job: Job): Promise<CallToolOutput | undefined> {
  const { writer, effect, input } = job;
  if (effect === 'read_only' && writer.attempt === 1) return undefined;
  const begun = await begin(job);
  switch (begun.status) {
    case 'run':
      return undefined;
    case 'done':
      return output(begun.result);
    case 'closed':
      return { status: 'closed', preview: '' };
    case 'leased':
    case 'lost':
      // Until effects are allowed no tool takes a lease; a lost one must never be run again.
      return commit(job, { result: syntheticResult(input.callId, 'unknown_outcome') }, 0, false);
  }
}

function begin({ deps, input, writer, call, effect, label }: Job) {
  return deps.store.beginCall(writer, {
    ref: runRef(input.ref),
    step: input.step,
    callId: call.callId,
    name: call.name,
    effect,
    leaseMs: LEASE_MS,
    event: startedEvent(input, call, label),
  });
}

/** Announces a slow call. `stop` tells whether it was announced, after any write under way. */
function announceLater(job: Job): { stop(): Promise<boolean> } {
  if (job.effect !== 'read_only' || job.writer.attempt > 1) return { stop: async () => true };
  let write: Promise<unknown> | undefined;
  const timer = setTimeout(() => {
    // A failed announcement is not worth failing the call for: the commit meets the same store.
    write = begin(job).catch(() => undefined);
  }, ANNOUNCE_AFTER_MS);
  return {
    async stop() {
      clearTimeout(timer);
      return (await write) !== undefined;
    },
  };
}

async function commit(
  job: Job,
  { result, fullOutput }: Executed,
  durationMs: number,
  announce: boolean,
): Promise<CallToolOutput> {
  const { deps, input, writer, call, label } = job;
  const stored = await deps.store.commitCall(writer, {
    ref: runRef(input.ref),
    step: input.step,
    callId: call.callId,
    name: call.name,
    result,
    ...(fullOutput === undefined ? {} : { fullOutput }),
    events: [
      ...(announce ? [startedEvent(input, call, label)] : []),
      endedEvent(input, call, result, fullOutput, durationMs),
    ],
  });
  return output(stored);
}

function output({ status, preview: text }: StoredResult): CallToolOutput {
  return { status, preview: text };
}

function startedEvent({ step, callId }: CallToolInput, { name }: ToolCall, label: string): AgentEvent {
  return { type: 'tool_call_started', step, callId, name, label, attempt: Context.current().info.attempt };
}

function endedEvent(
  { step, callId }: CallToolInput,
  { name }: ToolCall,
  result: ToolResult,
  fullOutput: string | undefined,
  durationMs: number,
): AgentEvent {
  const text = result.content.map((block) => (block.type === 'text' ? block.text : `[${block.type}]`)).join('\n');
  const common = { step, callId, name, preview: preview(text), durationMs };
  if (result.status !== 'ok') return { type: 'tool_call_failed', ...common, status: result.status };
  return {
    type: 'tool_call_completed',
    ...common,
    bytes: result.fullOutput?.bytes ?? Buffer.byteLength(fullOutput ?? text),
  };
}

function refusal(call: ToolCall, argumentsError: string | undefined): Executed {
  if (argumentsError !== undefined) return { result: unparsableResult(call, argumentsError) };
  return { result: syntheticResult(call.callId, 'error', `There is no tool named ${JSON.stringify(call.name)}.`) };
}

function labelOf(call: ToolCall, tool: Tool | undefined): string {
  return preview(tool?.label(call.arguments) ?? call.name);
}
