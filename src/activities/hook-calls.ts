import { Context } from '@temporalio/activity';
import type { ActivityRef, CallToolInput } from '../contract/activities.ts';
import type { CompactionEnd } from '../contract/compact-session.ts';
import { type HookContext, type HookOutcome, type HookPoint, runHooks } from '../hooks/hooks.ts';
import { ProviderError } from '../providers/errors.ts';
import type { AgentEvent } from '../transcript/events.ts';
import type { ToolCall, ToolResult } from '../transcript/items.ts';
import type { Json } from '../transcript/json.ts';
import type { MessageRequest } from '../transcript/message.ts';
import { preview } from '../transcript/preview.ts';
import { syntheticResult } from '../transcript/synthetic-result.ts';
import type { ActivityDeps } from './agents.ts';
import type { CompactionContext } from './compaction-context.ts';
import type { Executed } from './tool-execution.ts';

type HookDeps = Pick<ActivityDeps, 'hooks' | 'log' | 'redact'>;

/** What the moments of a run have in common. */
interface Place {
  readonly ref: ActivityRef;
  readonly step: number;
}

type Told = Pick<HookContext, 'request' | 'error' | 'tool' | 'detail'>;

/** Calls the worker's hooks of one moment. Never rejects: what failed is in the log, and in events for whoever commits. */
export async function callHooks(deps: HookDeps, point: HookPoint, place: Place, told: Told = {}): Promise<HookOutcome> {
  const { hooks = [], log, redact = (text) => text } = deps;
  if (hooks.length === 0) return { events: [] };
  const { sessionId, runId } = place.ref;
  const { attempt } = Context.current().info;
  const outcome = await runHooks(hooks, point, { sessionId, runId, attempt, turnIndex: place.step, ...told });
  const events = outcome.events.map((event) => ({ ...event, message: redact(event.message) }));
  for (const { hook, message } of events) {
    log.warn({ event: 'hook.failed', session_id: sessionId, run_id: runId, step: place.step, hook, message });
  }
  return { ...outcome, events };
}

/** Around one request: the failures of hooks, in order, for the step's commit. */
export async function aroundModel<T>(
  deps: HookDeps,
  place: Place,
  request: MessageRequest,
  failures: AgentEvent[],
  ask: () => Promise<T>,
  told: (answer: T) => Readonly<Record<string, Json>>,
): Promise<T> {
  failures.push(...(await callHooks(deps, 'beforeModel', place, { request })).events);
  try {
    const answer = await ask();
    failures.push(...(await callHooks(deps, 'afterModel', place, { request, detail: told(answer) })).events);
    return answer;
  } catch (error) {
    // A cancel or a shutdown is no failure.
    if (error instanceof ProviderError) {
      failures.push(...(await callHooks(deps, 'onError', place, { request, error })).events);
    }
    throw error;
  }
}

/** A call as its hooks see it. */
export interface HookedCall {
  readonly deps: HookDeps;
  readonly input: CallToolInput;
  readonly call: ToolCall;
}

/** What came of a call, with the failures of its hooks. `ran`: no hook kept the tool from running. */
export interface Hooked {
  readonly executed: Executed;
  readonly events: readonly AgentEvent[];
  readonly ran: boolean;
}

/** Runs a tool between its hooks, unless one of them forbids it: the model is then shown the reason. */
export async function aroundTool(job: HookedCall, run: () => Promise<Executed>): Promise<Hooked> {
  const { deps, input, call } = job;
  const tool = { callId: call.callId, name: call.name, arguments: call.arguments };
  const before = await callHooks(deps, 'beforeTool', input, { tool });
  if (before.veto !== undefined) {
    const { hook, reason } = before.veto;
    const result = syntheticResult(call.callId, 'denied', `Not run: the hook "${hook}" forbids it: ${reason}`);
    return { executed: { result }, events: before.events, ran: false };
  }
  const executed = await run();
  const said = preview(textOf(executed.result));
  const detail = { status: executed.result.status, preview: said };
  const after = await callHooks(deps, 'afterTool', input, { tool, detail });
  const failed = executed.result.status === 'error' || executed.result.status === 'timed_out';
  const onError = failed
    ? await callHooks(deps, 'onError', input, { tool, detail, error: new Error(said) })
    : undefined;
  return { executed, events: [...before.events, ...after.events, ...(onError?.events ?? [])], ran: true };
}

function textOf({ content }: ToolResult): string {
  return content.map((block) => (block.type === 'text' ? block.text : '')).join('\n');
}

/** Hooks of a compaction that begins. Their failures are committed under a phase of their own. */
export async function beforeCompaction(deps: ActivityDeps, place: Place, context: CompactionContext): Promise<void> {
  const { compactionId, trigger, reason } = context.job;
  const { events } = await callHooks(deps, 'beforeCompaction', place, { detail: { compactionId, trigger, reason } });
  await commitFailures(deps, context, 'hooks/before', events);
}

/** Hooks of a compaction that has ended, well or not. */
export async function afterCompaction(
  deps: ActivityDeps,
  place: Place,
  context: CompactionContext,
  end: CompactionEnd,
): Promise<CompactionEnd> {
  const detail = { ...end };
  const after = await callHooks(deps, 'afterCompaction', place, { detail });
  const error = end.outcome === 'failed' ? new Error(end.message ?? 'the compaction failed') : undefined;
  const onError = error === undefined ? undefined : await callHooks(deps, 'onError', place, { detail, error });
  await commitFailures(deps, context, 'hooks/after', [...after.events, ...(onError?.events ?? [])]);
  return end;
}

async function commitFailures(
  { store }: ActivityDeps,
  { job }: CompactionContext,
  phase: string,
  events: readonly AgentEvent[],
): Promise<void> {
  if (events.length === 0) return;
  const { ref, step, compactionId, writer } = job;
  await store.commitPhase(writer, { ref, step, compactionId, phase, output: events.length, events });
}
