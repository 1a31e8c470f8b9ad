import { isJsonObject, type Json, type JsonObject } from '../../transcript/json.ts';
import type { StreamEvent } from '../../transcript/stream-event.ts';
import type { ToolNames } from '../tool-names.ts';
import type { Segment } from './text-filter.ts';
import { createCallAssembler } from './tool-deltas.ts';

/** Numbers the parts of one answer, in order of first appearance, and makes their events. One part a kind, but for calls. */
export interface PartWriter {
  /** `replay` goes with the first piece. */
  reasoning(text: string, replay?: JsonObject): void;
  refusal(text: string): void;
  /** Replay data of the text. */
  onText(data: JsonObject): void;
  /** Replay data of the reasoning. */
  onReasoning(data: JsonObject): void;
  segments(found: readonly Segment[]): void;
  /** `delta.tool_calls`: a list, or one call that stands where a list should. */
  toolCalls(value: Json | undefined): void;
  /** Announces calls that never got arguments. */
  endCalls(): void;
  readonly empty: boolean;
  /** Whether there are calls, or text that is more than white space. */
  readonly spoke: boolean;
  readonly hasCalls: boolean;
  /** All reasoning so far. */
  readonly thoughts: string;
  /** The events since the last time. */
  take(): readonly StreamEvent[];
}

export function createPartWriter(names: ToolNames): PartWriter {
  let events: StreamEvent[] = [];
  let parts = 0;
  const nextPart = (): number => parts++;
  const calls = createCallAssembler(names, nextPart);
  let textPart: number | undefined;
  let refusalPart: number | undefined;
  let reasoningPart: number | undefined;
  let thoughts = '';
  let spoke = false;
  let leakedCalls = 0;

  const text = (words: string): void => {
    textPart ??= nextPart();
    spoke ||= words.trim() !== '';
    events.push({ type: 'text_delta', part: textPart, text: words });
  };
  const reasoning = (words: string, replay?: JsonObject): void => {
    if (words === '') return;
    if (reasoningPart === undefined) {
      reasoningPart = nextPart();
      if (replay !== undefined) events.push({ type: 'replay', part: reasoningPart, data: replay });
    }
    thoughts += words;
    events.push({ type: 'reasoning_delta', part: reasoningPart, text: words });
  };
  const leakedCall = (name: string, args: string): void => {
    // Servers that report a call in its own field may leave its markup in the text as well.
    if (calls.count > 0) return;
    leakedCalls += 1;
    events.push({
      type: 'tool_call_delta',
      part: nextPart(),
      nativeId: '',
      name: names.resolve(name),
      arguments: args,
    });
  };

  return {
    reasoning,
    refusal(words) {
      refusalPart ??= nextPart();
      events.push({ type: 'refusal_delta', part: refusalPart, text: words });
    },
    onText(data) {
      textPart ??= nextPart();
      events.push({ type: 'replay', part: textPart, data });
    },
    onReasoning(data) {
      reasoningPart ??= nextPart();
      events.push({ type: 'replay', part: reasoningPart, data });
    },
    segments(found) {
      for (const segment of found) {
        if (segment.type === 'call') leakedCall(segment.call.name, segment.call.arguments);
        else if (segment.type === 'reasoning') reasoning(segment.text);
        else text(segment.text);
      }
    },
    toolCalls(value) {
      const list: readonly Json[] = Array.isArray(value) ? value : isJsonObject(value) ? [value] : [];
      for (const call of list) events.push(...calls.push(call));
    },
    endCalls() {
      events.push(...calls.end());
    },
    get empty() {
      return parts === 0;
    },
    get spoke() {
      return spoke || calls.count > 0 || leakedCalls > 0;
    },
    get hasCalls() {
      return calls.count > 0;
    },
    get thoughts() {
      return thoughts;
    },
    take() {
      const taken = events;
      events = [];
      return taken;
    },
  };
}
