import type { Activities, CallToolInput, CallToolOutput } from '../contract/activities.ts';
import { HoldfastError } from '../contract/errors.ts';
import { storeBehind } from '../store/refusals.ts';
import type { Store } from '../store/store.ts';
import { effectClass } from '../tools/effect-class.ts';
import type { Tool } from '../tools/tool.ts';
import { windowBudget } from '../transcript/budget.ts';
import type { ToolCall } from '../transcript/items.ts';
import { preview } from '../transcript/preview.ts';
import { syntheticResult, unparsableResult } from '../transcript/synthetic-result.ts';
import { outputCaps } from '../transcript/truncate.ts';
import type { ActivityDeps } from './agents.ts';
import { refusedCall } from './call-approval.ts';
import { delegateResult } from './delegate-result.ts';
import { beforeRunning, keepLease } from './effect-ledger.ts';
import { translated } from './failure.ts';
import { cancelRequested, withHeartbeat, workerShutdown } from './heartbeat.ts';
import { aroundTool } from './hook-calls.ts';
import type { SharedDeps } from './model-call.ts';
import { agentOf } from './run-agent.ts';
import { type Executed, type Execution, execute } from './tool-execution.ts';
import { announceLater, commitJob, type ToolJob } from './tool-job.ts';
import { currentWriter } from './writer.ts';

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
  const agent = agentOf(deps, run);
  const tool = agent?.tools.get(call.name);
  const effect = tool === undefined ? 'read_only' : effectClass(tool);
  const job: ToolJob = { deps, input, writer, call, effect, label: labelOf(call, tool) };
  if (agent === undefined || tool === undefined || call.argumentsError !== undefined)
    return commitJob(job, refusal(call, call.argumentsError));
  const refused = await refusedCall(job, agent, tool);
  if (refused !== undefined) return commitJob(job, refused, { announce: false });

  const execution: Execution = {
    tool,
    call,
    input,
    signal,
    timeoutMs: 1000 * (tool.timeoutSecs ?? run.config.toolTimeoutSecs),
    outputTokens: outputCaps(windowBudget({ window: run.config.window }).budget, batchSize).perOutput,
    note,
    workspace: deps.workspace,
    redact: deps.redact ?? ((text) => text),
    store: deps.store,
  };
  if (input.delegate !== undefined) return commitJob(job, await delegateResult(execution, input.delegate));
  return (await beforeRunning(job, execution)) ?? runAndCommit(job, execution);
}

/** Runs the tool, under a lease where it must not run twice, and commits what came. */
async function runAndCommit(job: ToolJob, execution: Execution): Promise<CallToolOutput> {
  const started = performance.now();
  const announcement = announceLater(job);
  const lease = keepLease(job);
  const signal = AbortSignal.any([execution.signal, lease.lost]);
  const hooked = await aroundTool(job, () => execute({ ...execution, signal })).finally(lease.end);
  const announced = await announcement.stop();
  if (execution.signal.aborted && !cancelRequested()) throw workerShutdown();
  return commitJob(job, hooked.executed, {
    durationMs: Math.round(performance.now() - started),
    announce: hooked.ran && !announced,
    hookFailures: hooked.events,
  });
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

function refusal(call: ToolCall, argumentsError: string | undefined): Executed {
  if (argumentsError !== undefined) return { result: unparsableResult(call, argumentsError) };
  return { result: syntheticResult(call.callId, 'error', `There is no tool named ${JSON.stringify(call.name)}.`) };
}

function labelOf(call: ToolCall, tool: Tool | undefined): string {
  return preview(tool?.label(call.arguments) ?? call.name);
}
