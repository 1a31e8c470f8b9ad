import type { AgentEvent } from '../../transcript/events.ts';
import { duration, size } from './quantities.ts';
import { visibleLine } from './visible.ts';

type ToolEnd = Extract<AgentEvent, { type: 'tool_call_completed' | 'tool_call_failed' }>;

const LABEL_LIMIT = 100;
const PREVIEW_LIMIT = 80;

/** The calls that are under way, by their labels. */
export class RunningCalls {
  readonly #labels = new Map<string, string>();
  readonly #started = new Set<string>();

  requested(callId: string, name: string, label: string): void {
    this.#labels.set(callId, visibleLine(label === '' ? name : label, LABEL_LIMIT));
  }

  started(callId: string): void {
    this.#started.add(callId);
  }

  ended(callId: string): void {
    this.#started.delete(callId);
  }

  label(callId: string, name: string): string {
    return this.#labels.get(callId) ?? visibleLine(name, LABEL_LIMIT);
  }

  /** Labels of those that run now. */
  now(): readonly string[] {
    return [...this.#started].map((callId) => this.label(callId, 'tool'));
  }
}

/** One line of how a call ended, without mark or colour. */
export function endOfCall(event: ToolEnd, label: string): string {
  if (event.type === 'tool_call_completed') return `${label} · ${size(event.bytes)} · ${duration(event.durationMs)}`;
  return `${label} · ${event.status} after ${duration(event.durationMs)} · ${visibleLine(event.preview, PREVIEW_LIMIT)}`;
}
