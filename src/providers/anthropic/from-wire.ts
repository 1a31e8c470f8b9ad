import { isJsonObject, type Json, type JsonObject } from '../../transcript/json.ts';
import type { UnifiedStopReason } from '../../transcript/message.ts';
import type { StreamEvent } from '../../transcript/stream-event.ts';
import { added, type OpenBlock, openBlock, openedBy, started, stopped } from './content-block.ts';
import { createUsageMeter } from './usage.ts';

/** Reads the events of one response. Total over whatever a server may send: unknown events and blocks are passed over. */
export interface WireReader {
  read(event: unknown): readonly StreamEvent[];
  /** Whether the terminal event came; what follows it is ignored. */
  readonly finished: boolean;
}

/** Their word to ours. A table lookup and not a switch: the vendor grows this union, and an unknown word is an ordinary end. */
const STOP_REASONS: ReadonlyMap<string, UnifiedStopReason> = new Map([
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop'],
  ['tool_use', 'tool_calls'],
  ['max_tokens', 'length'],
  ['pause_turn', 'pause'],
  ['refusal', 'refusal'],
  ['model_context_window_exceeded', 'context_overflow'],
]);

/** Reads native events, whether from a stream or made of a whole message by {@link eventsOfMessage}. */
export function createWireReader(): WireReader {
  const open = new Map<number, OpenBlock>();
  const meter = createUsageMeter();
  let stopReason: string | null = null;
  let finished = false;
  let lastPart = -1;
  let sawText = false;

  const read = (event: unknown): readonly StreamEvent[] => {
    if (finished || !isJsonObject(event)) return [];
    const part = typeof event.index === 'number' ? event.index : 0;
    switch (event.type) {
      case 'message_start': {
        const message = objectOf(event.message);
        const started: StreamEvent = { type: 'response_started', id: textOf(message.id), model: textOf(message.model) };
        return [started, ...meter.read(message.usage)];
      }
      case 'content_block_start': {
        const start = objectOf(event.content_block);
        const block = openBlock(start);
        open.set(part, block);
        lastPart = Math.max(lastPart, part);
        return started(block, part);
      }
      case 'content_block_delta': {
        const block = open.get(part);
        // A server that forgets to open its blocks can still be read where the delta says what it belongs to.
        const delta = objectOf(event.delta);
        const target = block ?? openedBy(delta);
        if (block === undefined) open.set(part, target);
        lastPart = Math.max(lastPart, part);
        sawText ||= delta.type === 'text_delta';
        return added(target, part, delta);
      }
      case 'content_block_stop': {
        const block = open.get(part);
        open.delete(part);
        return block === undefined ? [] : stopped(block, part);
      }
      case 'message_delta': {
        const delta = objectOf(event.delta);
        if (typeof delta.stop_reason === 'string') stopReason = delta.stop_reason;
        return [...declined(stopReason, delta, lastPart + 1, sawText), ...meter.read(event.usage)];
      }
      case 'message_stop': {
        finished = true;
        const unified = stopReason === null ? 'stop' : (STOP_REASONS.get(stopReason) ?? 'stop');
        return [{ type: 'finished', stopReason: { unified, raw: stopReason } }];
      }
      default:
        // Not assertNever: the vendor adds event types and asks clients to pass over unknown ones.
        return [];
    }
  };
  return {
    read,
    get finished() {
      return finished;
    },
  };
}

/** A refusal may come without a word; its explanation is then what people see. */
function declined(
  stopReason: string | null,
  delta: JsonObject,
  part: number,
  sawText: boolean,
): readonly StreamEvent[] {
  const explanation = textOf(objectOf(delta.stop_details).explanation);
  if (stopReason !== 'refusal' || explanation === '' || sawText) return [];
  return [{ type: 'refusal_delta', part, text: explanation }];
}

/** A whole message (an answer without a stream) as the events that a stream would have brought. */
export function* eventsOfMessage(message: JsonObject): Generator<JsonObject> {
  yield { type: 'message_start', message };
  const content = Array.isArray(message.content) ? (message.content as readonly Json[]) : [];
  for (const [index, content_block] of content.entries()) {
    yield { type: 'content_block_start', index, content_block };
    yield { type: 'content_block_stop', index };
  }
  const { stop_reason = null, stop_details = null, usage = null } = message;
  yield { type: 'message_delta', delta: { stop_reason, stop_details }, usage };
  yield { type: 'message_stop' };
}

function objectOf(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}
