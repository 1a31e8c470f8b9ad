import { Context } from '@temporalio/activity';
import type { CallToolInput, CallToolOutput } from '../contract/activities.ts';
import type { BegunCall, EffectClass, StoredResult, Writer } from '../store/store.ts';
import type { AgentEvent } from '../transcript/events.ts';
import type { ToolCall, ToolResult } from '../transcript/items.ts';
import { preview } from '../transcript/preview.ts';
import type { ActivityDeps } from './agents.ts';
import { noteText } from './note-text.ts';
import { resultText } from './result-text.ts';
import type { Executed } from './tool-execution.ts';
import { runRef } from './writer.ts';

/** A call that takes longer than this is announced as started by itself; a quicker one in the transaction of its result. */
const ANNOUNCE_AFTER_MS = 150;
/** How long an at-most-once call may go without a renewal before another attempt may ask what became of it. */
export const LEASE_MS = 15_000;

/** One attempt at one call. */
export interface ToolJob {
  readonly deps: Pick<ActivityDeps, 'store' | 'log' | 'policy' | 'workspace' | 'hooks' | 'redact'>;
  readonly input: CallToolInput;
  readonly writer: Writer;
  readonly call: ToolCall;
  readonly effect: EffectClass;
  readonly label: string;
}

/** Tells the store that the call begins, and what people decided of it. */
export function beginJob(job: ToolJob, options: { readonly takeOver?: true } = {}): Promise<BegunCall> {
  const { deps, input, writer, call, effect } = job;
  const decision = decisionEvent(input);
  return deps.store.beginCall(writer, {
    ref: runRef(input.ref, { answered: input.step }),
    step: input.step,
    callId: call.callId,
    name: call.name,
    effect,
    leaseMs: LEASE_MS,
    event: startedEvent(job),
    ...(decision === undefined ? {} : { decision }),
    ...options,
  });
}

/** Whether the store hears of the call before its tool runs: all but the first attempt at a read-only one that asked nobody. */
export function beginsFirst({ effect, writer, input }: ToolJob): boolean {
  return effect !== 'read_only' || writer.attempt > 1 || input.decision !== undefined;
}

/** Announces a slow call. `stop` tells whether it was announced, after any write under way. */
export function announceLater(job: ToolJob): { stop(): Promise<boolean> } {
  if (beginsFirst(job)) return { stop: async () => true };
  let write: Promise<unknown> | undefined;
  const timer = setTimeout(() => {
    // A failed announcement is not worth failing the call for: the commit meets the same store.
    write = beginJob(job).catch(() => undefined);
  }, ANNOUNCE_AFTER_MS);
  return {
    async stop() {
      clearTimeout(timer);
      return (await write) !== undefined;
    },
  };
}

/** `announce`: whether its start is told here. */
export interface CommitOptions {
  readonly durationMs?: number;
  readonly announce?: boolean;
  /** Failures of the hooks around it. */
  readonly hookFailures?: readonly AgentEvent[];
}

/** Commits the result with its events; what the store has already wins. */
export async function commitJob(
  job: ToolJob,
  { result, fullOutput }: Executed,
  { durationMs = 0, announce = true, hookFailures = [] }: CommitOptions = {},
): Promise<CallToolOutput> {
  const { deps, input, writer, call } = job;
  const decision = decisionEvent(input);
  const stored = await deps.store.commitCall(writer, {
    ref: runRef(input.ref, { answered: input.step }),
    step: input.step,
    callId: call.callId,
    name: call.name,
    result,
    ...(fullOutput === undefined ? {} : { fullOutput }),
    events: [
      ...(decision === undefined ? [] : [decision]),
      ...(announce ? [startedEvent(job)] : []),
      ...hookFailures,
      endedEvent(job, result, fullOutput, durationMs),
    ],
  });
  return storedOutput(stored);
}

export function storedOutput({ status, preview: text }: StoredResult): CallToolOutput {
  return { status, preview: text };
}

function decisionEvent({
  decision: decided,
  step,
  callId,
}: CallToolInput): Extract<AgentEvent, { type: 'approval_resolved' }> | undefined {
  if (decided === undefined) return undefined;
  const { decision, by, note } = decided;
  return {
    type: 'approval_resolved',
    step,
    callId,
    decision,
    by: preview(by),
    ...(noteText(note) === '' ? {} : { note: noteText(note) }),
  };
}

function startedEvent({ input: { step, callId }, call: { name }, label }: ToolJob): AgentEvent {
  return { type: 'tool_call_started', step, callId, name, label, attempt: Context.current().info.attempt };
}

function endedEvent(
  { input: { step, callId }, call: { name } }: ToolJob,
  result: ToolResult,
  fullOutput: string | undefined,
  durationMs: number,
): AgentEvent {
  const text = resultText(result);
  const common = { step, callId, name, preview: preview(text), durationMs };
  if (result.status !== 'ok') return { type: 'tool_call_failed', ...common, status: result.status };
  return {
    type: 'tool_call_completed',
    ...common,
    bytes: result.fullOutput?.bytes ?? Buffer.byteLength(fullOutput ?? text),
  };
}
