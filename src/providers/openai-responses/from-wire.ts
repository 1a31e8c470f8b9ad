import { isJsonObject, type Json, type JsonObject } from '../../transcript/json.ts';
import type { StopReason } from '../../transcript/message.ts';
import type { StreamEvent } from '../../transcript/stream-event.ts';
import { StreamFailure } from '../stream-failure.ts';
import { createItemReader } from './item-reader.ts';
import { usageEvents } from './usage.ts';

/** Reads the events of one response. Total over what a server may send: unknown events are passed over. */
export interface WireReader {
  /** @throws StreamFailure when the server reports that it failed. */
  read(event: unknown): readonly StreamEvent[];
  /** Whether the terminal event came; what follows it is ignored. */
  readonly finished: boolean;
}

/**
 * Reads native events, whether from a stream or made of a whole response by {@link eventsOfResponse}.
 *
 * @param maxOutputTokens what the request allowed: an answer that took all of it was cut, though llama.cpp's server calls
 * every end "completed".
 */
export function createWireReader(maxOutputTokens: number = Number.POSITIVE_INFINITY): WireReader {
  const items = createItemReader();
  let started = false;
  let finished = false;

  const start = (response: JsonObject): readonly StreamEvent[] => {
    if (started || typeof response.id !== 'string') return [];
    started = true;
    return [{ type: 'response_started', id: response.id, model: textOf(response.model) }];
  };
  const end = (response: JsonObject, stopReason: StopReason): readonly StreamEvent[] => {
    finished = true;
    const output = Array.isArray(response.output) ? (response.output as readonly Json[]) : [];
    return [
      ...start(response),
      ...items.whole(output),
      ...usageEvents(response.usage),
      { type: 'finished', stopReason },
    ];
  };
  const read = (event: unknown): readonly StreamEvent[] => {
    if (finished || !isJsonObject(event)) return [];
    const response = isJsonObject(event.response) ? event.response : {};
    switch (event.type) {
      case 'response.created':
      case 'response.in_progress':
      case 'response.queued':
        return start(response);
      case 'response.completed':
      case 'response.done':
        // Some servers name every end "completed" and tell the truth in the status.
        if (response.status === 'failed' || response.status === 'cancelled') throw new StreamFailure(response);
        if (response.status === 'incomplete') return end(response, cutShort(response));
        return end(response, {
          unified: outputTokens(response) >= maxOutputTokens ? 'length' : 'stop',
          raw: 'completed',
        });
      case 'response.incomplete':
        return end(response, cutShort(response));
      case 'response.failed':
      case 'response.cancelled':
        throw new StreamFailure(isJsonObject(response.error) ? response.error : event);
      case 'error':
        throw new StreamFailure(event);
      default:
        return items.read(event);
    }
  };
  return {
    read,
    get finished() {
      return finished;
    },
  };
}

/** An answer that is incomplete is never an ordinary end, whatever the reason is called. */
function cutShort(response: JsonObject): StopReason {
  const details = isJsonObject(response.incomplete_details) ? response.incomplete_details : {};
  const raw = typeof details.reason === 'string' ? details.reason : 'incomplete';
  return { unified: raw === 'content_filter' ? 'content_filter' : 'length', raw };
}

function outputTokens({ usage }: JsonObject): number {
  return isJsonObject(usage) && typeof usage.output_tokens === 'number' ? usage.output_tokens : 0;
}

/** A whole response (an answer without a stream) as the events that a stream would have brought. */
export function* eventsOfResponse(response: JsonObject): Generator<JsonObject> {
  yield { type: 'response.created', response };
  const status = typeof response.status === 'string' ? response.status : 'completed';
  yield { type: `response.${status}`, response };
}

function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}
