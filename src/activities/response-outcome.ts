import type { CallModelInput, CallModelOutput, PlannedCall } from '../contract/activities.ts';
import { TASK_QUEUE } from '../contract/identity.ts';
import type { AccumulatedResponse } from '../providers/accumulator.ts';
import { readStructured } from '../providers/structured-output.ts';
import type { RunConfig } from '../store/run-config.ts';
import type { AgentEvent } from '../transcript/events.ts';
import type { AgentItem, AssistantMessage, ToolCall, ToolCallBatch } from '../transcript/items.ts';
import type { JsonObject } from '../transcript/json.ts';
import type { StopReason } from '../transcript/message.ts';
import { preview } from '../transcript/preview.ts';
import type { AgentSpec } from './agents.ts';
import type { Answer } from './ask-model.ts';
import type { Delegations } from './plan-delegate.ts';
import type { Approvals } from './tool-policy.ts';

/** What the workflow is told of a response, but for what is the same for all. */
export type Outcome = CallModelOutput extends infer Output
  ? Output extends unknown
    ? Omit<Output, 'head' | 'usage'>
    : never
  : never;

export interface OutcomeContext {
  readonly agent: AgentSpec | undefined;
  readonly config: RunConfig;
  readonly input: Pick<CallModelInput, 'control' | 'nudged'>;
  /** Whether the text promises to act. */
  readonly promises: boolean;
  /** Whether a tool with effects has run since a person last said something: what it promised may be done. */
  readonly acted: boolean;
  /** What must ask a person first, by call id. */
  readonly approvals: Approvals;
  /** What other agents are to do, by call id. */
  readonly delegations: Delegations;
}

/** What the workflow does next: the presence of calls decides, because real servers say `stop` with calls. */
export function outcomeOf(response: AccumulatedResponse, context: OutcomeContext): Outcome {
  const { agent, config, approvals, delegations } = context;
  const batch = batchOf(response.items);
  if (batch !== undefined)
    return {
      outcome: 'tools',
      calls: batch.calls.map((call) => {
        const delegate = delegations.get(call.callId);
        const plan = planned(call, agent, config, approvals.get(call.callId));
        return delegate === undefined ? plan : { ...plan, delegate };
      }),
    };
  if (response.stopReason.unified === 'pause') return { outcome: 'pause' };
  return finalOutcome(response, context);
}

/** The answer, unless it must be asked for once more: it does not fit its schema, or only promises to act. */
function finalOutcome(response: AccumulatedResponse, { agent, input, promises, acted }: OutcomeContext): Outcome {
  const final = { outcome: 'final', preview: preview(response.text) } as const;
  if (agent?.output !== undefined && response.stopReason.unified !== 'refusal') {
    const reading = readStructured(response.text, agent.output.check);
    if (reading.ok) return final;
    if (input.control !== 'output') return { ...final, again: 'output' };
    return { outcome: 'failed', error: 'InvalidOutput', message: reading.problem.slice(0, 500) };
  }
  if (response.discardedCalls.length > 0 && response.stopReason.unified === 'length' && input.nudged !== true) {
    return { ...final, again: 'cut_call' };
  }
  const promised = promises && (agent?.tools.specs.length ?? 0) > 0;
  return promised && !acted && input.nudged !== true ? { ...final, again: 'promise' } : final;
}

function planned(
  call: ToolCall,
  agent: AgentSpec | undefined,
  config: RunConfig,
  approval: PlannedCall['approval'],
): PlannedCall {
  const tool = agent?.tools.get(call.name);
  const timeoutMs = 1000 * (tool?.timeoutSecs ?? config.toolTimeoutSecs);
  return {
    callId: call.callId,
    label: preview(tool?.label(call.arguments) ?? call.name).slice(0, 100),
    timeoutMs,
    ...(approval === undefined ? {} : { approval }),
    ...(tool?.exclusive === true ? { exclusive: true } : {}),
    ...(tool?.quick === true ? { taskQueue: TASK_QUEUE } : {}),
  };
}

/** Events of a committed response: what was said, then what was asked for. */
export function responseEvents(
  step: number,
  items: readonly AgentItem[],
  answer: Answer,
  label: (name: string, args: JsonObject) => string,
  approvals: Approvals,
): AgentEvent[] {
  const cut = !('response' in answer);
  const stopReason: StopReason = cut ? { unified: 'stop', raw: null } : answer.response.stopReason;
  const done: AgentEvent = {
    type: 'assistant_message_done',
    step,
    text: textOf(items),
    usage: cut ? null : answer.response.usage,
    stopReason,
    ...(cut ? { interrupted: true } : {}),
  };
  const calls = batchOf(items)?.calls ?? [];
  return [
    done,
    ...calls.map(
      ({ callId, name, arguments: args }): AgentEvent => ({
        type: 'tool_call_requested',
        step,
        callId,
        name,
        label: preview(label(name, args)),
        arguments: args,
      }),
    ),
    ...calls.flatMap(({ callId, name: wire, arguments: args }): AgentEvent[] => {
      const approval = approvals.get(callId);
      if (approval === undefined) return [];
      return [{ type: 'approval_requested', step, callId, label: preview(label(wire, args)), ...approval }];
    }),
  ];
}

/** Visible text of a response, refusals included. */
export function textOf(items: readonly AgentItem[]): string {
  return items
    .filter((item): item is AssistantMessage => item.kind === 'assistant_message')
    .flatMap((item) => item.content)
    .map((block) => (block.type === 'text' || block.type === 'refusal' ? block.text : ''))
    .join('');
}

function batchOf(items: readonly AgentItem[]): ToolCallBatch | undefined {
  const last = items.at(-1);
  return last?.kind === 'tool_call_batch' ? last : undefined;
}
