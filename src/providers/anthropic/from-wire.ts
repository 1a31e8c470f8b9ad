import { isJsonObject, type Json, type JsonObject } from '../../transcript/json.ts';
import type { UnifiedStopReason } from '../../transcript/message.ts';
import type { StreamEvent } from '../../transcript/stream-event.ts';
import { ProviderError } from '../errors.ts';
import { thinkingReplay } from './thinking.ts';
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

/** A content block while it arrives. `start` is as the server sent it, `text` what its deltas added. */
interface OpenBlock {
  readonly type: string;
  readonly start: JsonObject;
  text: string;
  signature: string;
  readonly citations: Json[];
}

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
        const block: OpenBlock = {
          type: textOf(start.type),
          start,
          text: '',
          signature: textOf(start.signature),
          citations: [],
        };
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

/** A call's block is announced at once; what stands in the block already (servers that do not stream it) counts as first delta. */
function started(block: OpenBlock, part: number): readonly StreamEvent[] {
  const { start, type } = block;
  if (type === 'tool_use')
    return [{ type: 'tool_call_delta', part, nativeId: textOf(start.id), name: textOf(start.name) }];
  if (type === 'text' && textOf(start.text) !== '') return [{ type: 'text_delta', part, text: textOf(start.text) }];
  if (type === 'thinking' && textOf(start.thinking) !== '') {
    block.text = textOf(start.thinking);
    return [{ type: 'reasoning_delta', part, text: block.text }];
  }
  if (type === 'redacted_thinking') return [{ type: 'replay', part, data: { redacted: textOf(start.data) } }];
  if (type === 'text' && Array.isArray(start.citations)) block.citations.push(...(start.citations as readonly Json[]));
  return [];
}

const BLOCK_OF_DELTA: ReadonlyMap<Json | undefined, string> = new Map([
  ['text_delta', 'text'],
  ['thinking_delta', 'thinking'],
  ['signature_delta', 'thinking'],
]);

function openedBy(delta: JsonObject): OpenBlock {
  const type = BLOCK_OF_DELTA.get(delta.type);
  if (type === undefined)
    throw new ProviderError('protocol', `a ${textOf(delta.type)} for a block that was never opened`);
  return { type, start: {}, text: '', signature: '', citations: [] };
}

function added(block: OpenBlock, part: number, delta: JsonObject): readonly StreamEvent[] {
  switch (delta.type) {
    case 'text_delta':
      return [{ type: 'text_delta', part, text: textOf(delta.text) }];
    case 'thinking_delta':
      block.text += textOf(delta.thinking);
      return [{ type: 'reasoning_delta', part, text: textOf(delta.thinking) }];
    case 'signature_delta':
      block.signature += textOf(delta.signature);
      return [];
    case 'citations_delta':
      if (delta.citation !== undefined) block.citations.push(delta.citation);
      return [];
    case 'input_json_delta':
      block.text += textOf(delta.partial_json);
      if (block.type !== 'tool_use' || delta.partial_json === '') return [];
      return [{ type: 'tool_call_delta', part, arguments: textOf(delta.partial_json) }];
    default:
      return [];
  }
}

/** What is known only when a block is whole: signatures, citations, inputs that came in one piece, the server's own tools. */
function stopped(block: OpenBlock, part: number): readonly StreamEvent[] {
  const done: StreamEvent = { type: 'part_done', part };
  const { type, start } = block;
  if (type === 'thinking') {
    if (block.signature === '' && block.text === '') return [done];
    return [{ type: 'replay', part, data: thinkingReplay(block.text, block.signature) }, done];
  }
  if (type === 'text') {
    return block.citations.length === 0
      ? [done]
      : [{ type: 'replay', part, data: { citations: block.citations } }, done];
  }
  if (type === 'tool_use') {
    const whole = block.text === '' && isJsonObject(start.input) && Object.keys(start.input).length > 0;
    return whole ? [{ type: 'tool_call_delta', part, arguments: JSON.stringify(start.input) }, done] : [done];
  }
  return [...builtinEvent(block, part), done];
}

function builtinEvent({ type, start, text }: OpenBlock, part: number): readonly StreamEvent[] {
  if (type.endsWith('_tool_use')) {
    const payload = { ...start, input: inputOf(text, start.input) };
    const call = { phase: 'call', nativeId: textOf(start.id), name: textOf(start.name) } as const;
    return [
      { type: 'builtin_tool', part, ...call, payload },
      { type: 'replay', part, data: { native: true } },
    ];
  }
  if (type.endsWith('_tool_result')) {
    const result = {
      phase: 'result',
      nativeId: textOf(start.tool_use_id),
      name: type.slice(0, -'_tool_result'.length),
    } as const;
    return [
      { type: 'builtin_tool', part, ...result, payload: start },
      { type: 'replay', part, data: { native: true } },
    ];
  }
  return [];
}

function inputOf(streamed: string, whole: Json | undefined): Json {
  if (streamed === '') return whole ?? {};
  try {
    return JSON.parse(streamed) as Json;
  } catch {
    return whole ?? {};
  }
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
