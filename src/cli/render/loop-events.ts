import type { AgentEvent, AgentEventType } from '../../transcript/events.ts';
import type { JsonObject } from '../../transcript/json.ts';
import type { Usage } from '../../transcript/message.ts';
import type { Renderer, Sinks } from './renderer.ts';

/** A run in four kinds of event: the simple form for scripts. */
export type LoopEvent =
  | { readonly type: 'text'; readonly step: number; readonly text: string }
  | {
      readonly type: 'tool_start';
      readonly step: number;
      readonly callId: string;
      readonly name: string;
      readonly arguments: JsonObject;
    }
  | {
      readonly type: 'tool_end';
      readonly step: number;
      readonly callId: string;
      readonly name: string;
      /** `ok`, or how it failed. */
      readonly status: string;
      readonly preview: string;
      readonly durationMs: number;
    }
  | {
      readonly type: 'done';
      readonly status: 'completed' | 'cancelled' | 'failed';
      readonly runId: string;
      /** The answer; the reason of a cancel; the message of a failure. */
      readonly text: string;
      /** Name of the error of a failure. */
      readonly error?: string;
      readonly usage?: Usage;
      readonly costUsd?: number | null;
    };

type EventOf<T extends AgentEventType> = Extract<AgentEvent, { type: T }>;

/** The simple event that an event of these types becomes; all others have none. */
const SIMPLE: { readonly [T in AgentEventType]?: (event: EventOf<T>, runId: string) => LoopEvent } = {
  assistant_message_done: ({ step, text }) => ({ type: 'text', step, text }),
  tool_call_requested: ({ step, callId, name, arguments: args }) => ({
    type: 'tool_start',
    step,
    callId,
    name,
    arguments: args,
  }),
  tool_call_completed: ({ step, callId, name, preview, durationMs }) => ({
    type: 'tool_end',
    step,
    callId,
    name,
    status: 'ok',
    preview,
    durationMs,
  }),
  tool_call_failed: ({ step, callId, name, status, preview, durationMs }) => ({
    type: 'tool_end',
    step,
    callId,
    name,
    status,
    preview,
    durationMs,
  }),
  final_response: ({ text, usage, costUsd }, runId) => ({
    type: 'done',
    status: 'completed',
    runId,
    text,
    usage,
    costUsd,
  }),
  loop_aborted: ({ reason }, runId) => ({ type: 'done', status: 'cancelled', runId, text: reason }),
  run_failed: ({ error, message }, runId) => ({ type: 'done', status: 'failed', runId, text: message, error }),
};

export function toLoopEvent(event: AgentEvent, runId: string): LoopEvent | undefined {
  // The table pairs each type with a function of that very type, which an index by a union cannot say.
  const simple = SIMPLE[event.type] as ((event: AgentEvent, runId: string) => LoopEvent) | undefined;
  return simple?.(event, runId);
}

/** One array of {@link LoopEvent}s at the end, on one line. */
export function jsonRenderer({ out, err }: Sinks): Renderer {
  const events: LoopEvent[] = [];
  return {
    event: ({ event, runId }) => {
      const simple = toLoopEvent(event, runId);
      if (simple !== undefined) events.push(simple);
    },
    tick: () => {},
    note: (line) => err(`${line}\n`),
    end: () => out(`${JSON.stringify(events)}\n`),
  };
}
