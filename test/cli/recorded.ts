import type { AgentEvent, RecordedEvent } from '../../src/transcript/events.ts';
import type { Usage } from '../../src/transcript/message.ts';

export const USAGE: Usage = {
  inputTokens: 1200,
  outputTokens: 340,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
};

const DELTAS = ['assistant_text_delta', 'reasoning_delta'];

/** Events as a reader gets them: indexed, but for the deltas. */
export function recorded(events: readonly AgentEvent[]): readonly RecordedEvent[] {
  let index = 0;
  return events.map((event) => ({
    schemaVersion: 1,
    runId: 'run-1',
    index: DELTAS.includes(event.type) ? null : index++,
    at: '2026-01-01T00:00:00.000Z',
    event,
  }));
}

export const started: AgentEvent = {
  type: 'run_started',
  messageId: 'run-1',
  agent: 'default',
  model: 'offline/extractive',
  prompt: 'Where?',
};

export function delta(text: string, step = 0): AgentEvent {
  return { type: 'assistant_text_delta', step, text };
}

export function messageDone(text: string, step = 0, stop: 'stop' | 'tool_calls' = 'stop'): AgentEvent {
  return { type: 'assistant_message_done', step, text, usage: USAGE, stopReason: { unified: stop, raw: stop } };
}

export function restarted(step = 0): AgentEvent {
  return { type: 'model_attempt_restarted', step, attempt: 2, reason: 'the connection broke' };
}

export function finalResponse(text: string): AgentEvent {
  return { type: 'final_response', text, answers: ['run-1'], steps: 1, usage: USAGE, costUsd: 0.0123 };
}

/** The four events of a call that went well. */
export function toolCall(callId: string, label: string, preview = 'two lines'): readonly AgentEvent[] {
  const call = { step: 0, callId, name: 'read_file', label };
  return [
    { type: 'tool_call_requested', ...call, arguments: { path: 'a.ts' } },
    { type: 'tool_call_started', ...call, attempt: 1 },
    { type: 'tool_call_completed', step: 0, callId, name: 'read_file', preview, bytes: 2048, durationMs: 12 },
  ];
}
