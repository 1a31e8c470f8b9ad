import type { CallModelOutput, PlannedCall } from '../contract/activities.ts';
import type { AccumulatedResponse } from '../providers/accumulator.ts';
import type { AgentEvent } from '../transcript/events.ts';
import type { AgentItem, AssistantMessage, ToolCall, ToolCallBatch } from '../transcript/items.ts';
import type { JsonObject } from '../transcript/json.ts';
import type { StopReason } from '../transcript/message.ts';
import { preview } from '../transcript/preview.ts';
import type { AgentSpec } from './agents.ts';
import type { RunConfig } from './run-config.ts';

type Outcome = CallModelOutput extends infer Output
  ? Output extends unknown
    ? Omit<Output, 'head' | 'contextTokens'>
    : never
  : never;

/** What the workflow does next: the presence of calls decides, because real servers say `stop` with calls. */
export function outcomeOf(response: AccumulatedResponse, agent: AgentSpec | undefined, config: RunConfig): Outcome {
  const batch = batchOf(response.items);
  if (batch !== undefined) return { outcome: 'tools', calls: batch.calls.map((call) => planned(call, agent, config)) };
  if (response.stopReason.unified === 'pause') return { outcome: 'pause' };
  return { outcome: 'final', preview: preview(response.text) };
}

function planned(call: ToolCall, agent: AgentSpec | undefined, config: RunConfig): PlannedCall {
  const tool = agent?.tools.get(call.name);
  const timeoutMs = 1000 * (tool?.timeoutSecs ?? config.toolTimeoutSecs);
  return {
    callId: call.callId,
    label: preview(tool?.label(call.arguments) ?? call.name).slice(0, 100),
    timeoutMs,
    ...(tool?.exclusive === true ? { exclusive: true } : {}),
  };
}

/** Events of a committed response: what was said, then what was asked for. */
export function responseEvents(
  step: number,
  items: readonly AgentItem[],
  answer: { readonly response: AccumulatedResponse } | { readonly partial: readonly AgentItem[] },
  label: (name: string, args: JsonObject) => string,
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
