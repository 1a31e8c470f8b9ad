import type { DelegatedTask, RootRun } from '../contract/activities.ts';
import { MAX_INLINE_BYTES } from '../contract/identity.ts';
import type { SendMessage } from '../contract/messages.ts';
import type { Store } from '../store/store.ts';
import { delegationDepth, isDelegate, MAX_DELEGATION_DEPTH } from '../tools/delegate.ts';
import type { AgentItem, ToolCall } from '../transcript/items.ts';
import type { ActivityDeps } from './agents.ts';
import type { ModelCall } from './model-call.ts';
import { ruledOn } from './tool-policy.ts';

/** Tasks for subagents, by the id of the call that gives them. */
export type Delegations = ReadonlyMap<string, DelegatedTask>;

/**
 * The calls of a response that give a task to another agent. Those that cannot (too deep, wrong arguments, denied by the
 * policy) are left out: such a call runs like any other and says why.
 */
export async function delegationsOf(
  { deps, input, run, agent }: Pick<ModelCall, 'input' | 'run' | 'agent'> & { readonly deps: ActivityDeps },
  items: readonly AgentItem[],
): Promise<Delegations> {
  const tasks = new Map<string, DelegatedTask>();
  const batch = items.at(-1);
  const { sessionId, runId, storeId } = input.ref;
  if (batch?.kind !== 'tool_call_batch' || agent === undefined) return tasks;
  if (delegationDepth(sessionId) >= MAX_DELEGATION_DEPTH) return tasks;
  const root: RootRun = run.config.root ?? { runId, sessionId };
  for (const call of batch.calls) {
    const tool = agent.tools.get(call.name);
    if (tool === undefined || !isDelegate(tool)) continue;
    const asked = taskOf(tool.parse(call.arguments));
    const to = asked === undefined ? undefined : deps.agents.get(asked.agent);
    if (asked === undefined || to === undefined || call.argumentsError !== undefined) continue;
    if ((await ruledOn(deps, agent, tool, call)).decision === 'deny') continue;
    const task = await message(deps.store, call, asked.task, storeId);
    tasks.set(call.callId, {
      agent: asked.agent,
      sessionId: `${sessionId}/sub/${call.callId}`,
      // An agent without a model of its own works with the one of the run that asks it.
      task: to.model === undefined ? { ...task, model: run.config.model } : task,
      root,
    });
  }
  return tasks;
}

function taskOf(
  parsed: { readonly ok: true; readonly value: unknown } | { readonly ok: false },
): { readonly agent: string; readonly task: string } | undefined {
  return parsed.ok ? (parsed.value as { agent: string; task: string }) : undefined;
}

/** The call's own id is the message's: a batch that runs again after a reset finds the answer that there is. */
async function message(store: Store, { callId }: ToolCall, text: string, storeId: string): Promise<SendMessage> {
  const bytes = new TextEncoder().encode(text);
  const common = { messageId: callId, storeId };
  if (bytes.byteLength <= MAX_INLINE_BYTES) return { ...common, text };
  return { ...common, textRef: await store.putBlob(bytes, 'text/plain') };
}
