import { isJsonObject, type Json, type JsonObject } from '../../transcript/json.ts';
import type { StopReason } from '../../transcript/message.ts';
import type { StreamEvent } from '../../transcript/stream-event.ts';
import { ProviderError } from '../errors.ts';
import { redact } from '../redact.ts';
import { StreamFailure } from '../stream-failure.ts';
import type { ToolNames } from '../tool-names.ts';
import { textOf, thinkingOf } from './content.ts';
import type { Dialect } from './dialects.ts';
import { stopReasonOf } from './finish.ts';
import { createDetailCollector } from './reasoning-details.ts';
import { createTextFilter, type Segment } from './text-filter.ts';
import { createCallAssembler } from './tool-deltas.ts';
import { usageOf } from './usage.ts';

/** Reads the chunks of one answer, or the one object of an answer that was not streamed. */
export interface ChatReader {
  /** @throws StreamFailure for an error the server reported, ProviderError for a failure in other words. */
  push(chunk: unknown): readonly StreamEvent[];
  /** The events that only the end brings: held text, calls written as text, `finished`. Nothing more may be pushed. */
  end(ending: Ending): readonly StreamEvent[];
  /** Whether a finish reason came: what is still missing is at most usage. */
  readonly finished: boolean;
}

/** How the body ended. `done`: the end mark, or a whole JSON answer. `closed`: the connection's end and nothing else. */
export type Ending = 'done' | 'closed';

export function createChatReader(dialect: Dialect, names: ToolNames): ChatReader {
  const filter = createTextFilter({ names, textCalls: dialect.textCalls, thinkTags: dialect.reasoning.tags });
  const details = createDetailCollector();
  let parts = 0;
  const nextPart = (): number => parts++;
  const calls = createCallAssembler(names, nextPart);
  let started = false;
  let choiceIndex: Json | undefined;
  let textPart: number | undefined;
  let refusalPart: number | undefined;
  let reasoningPart: number | undefined;
  let thoughts = '';
  let stop: StopReason | undefined;
  let said = false;
  let odd = 'it is empty';

  const reasoning = (text: string, replay: JsonObject | undefined, out: StreamEvent[]): void => {
    if (text === '') return;
    if (reasoningPart === undefined) {
      reasoningPart = nextPart();
      if (replay !== undefined) out.push({ type: 'replay', part: reasoningPart, data: replay });
    }
    thoughts += text;
    out.push({ type: 'reasoning_delta', part: reasoningPart, text });
  };

  const segments = (found: readonly Segment[], out: StreamEvent[]): void => {
    for (const segment of found) {
      if (segment.type === 'call') {
        const { name, arguments: args } = segment.call;
        // Servers that report a call in its own field may leave its markup in the text as well.
        if (calls.count > 0) continue;
        out.push({
          type: 'tool_call_delta',
          part: nextPart(),
          nativeId: '',
          name: names.resolve(name),
          arguments: args,
        });
      } else if (segment.type === 'reasoning') reasoning(segment.text, undefined, out);
      else {
        textPart ??= nextPart();
        out.push({ type: 'text_delta', part: textPart, text: segment.text });
      }
    }
  };

  const toolCalls = (value: Json | undefined, out: StreamEvent[]): void => {
    const list: readonly Json[] = Array.isArray(value) ? value : isJsonObject(value) ? [value] : [];
    for (const call of list) out.push(...calls.push(call));
  };

  const delta = (value: JsonObject, out: StreamEvent[]): void => {
    const field = dialect.reasoning.in.find((key) => typeof value[key] === 'string' && value[key] !== '');
    const thinking = field === undefined ? thinkingOf(value.content) : String(value[field]);
    reasoning(thinking, { field: field ?? 'content' }, out);
    details.push(value.reasoning_details);
    const text = textOf(value.content);
    if (isThought(value)) reasoning(text.replace(/<\/?thought>/g, ''), undefined, out);
    else if (text !== '') segments(filter.push(text), out);
    if (typeof value.refusal === 'string' && value.refusal !== '') {
      refusalPart ??= nextPart();
      out.push({ type: 'refusal_delta', part: refusalPart, text: value.refusal });
    }
    toolCalls(value.tool_calls, out);
    if (isJsonObject(value.function_call)) out.push(...calls.push({ index: 0, function: value.function_call }));
    if (isJsonObject(value.extra_content) && !isThought(value)) {
      textPart ??= nextPart();
      out.push({ type: 'replay', part: textPart, data: { extra_content: value.extra_content } });
    }
  };

  const choice = (value: JsonObject, out: StreamEvent[]): void => {
    choiceIndex ??= value.index ?? 0;
    if ((value.index ?? 0) !== choiceIndex) return;
    if (isError(value.error)) throw new StreamFailure(value);
    said = true;
    if (isJsonObject(value.delta)) delta(value.delta, out);
    // A last chunk may repeat the whole message: only what did not come before counts.
    else if (isJsonObject(value.message)) {
      const message = numbered(value.message);
      if (parts === 0) delta(message, out);
      else if (calls.count === 0) toolCalls(message.tool_calls, out);
    }
    const raw = value.finish_reason;
    if (typeof raw !== 'string' || raw === '' || raw === 'null') return;
    const next = stopReasonOf(raw);
    if (stop === undefined || CAN_CHANGE.has(stop.unified)) stop = next;
  };

  return {
    push(chunk) {
      if (!isJsonObject(chunk)) return [];
      if (isFailure(chunk)) throw new StreamFailure(chunk);
      const out: StreamEvent[] = [];
      if (!started && typeof chunk.id === 'string') {
        started = true;
        out.push({ type: 'response_started', id: chunk.id, model: typeof chunk.model === 'string' ? chunk.model : '' });
      }
      if (Array.isArray(chunk.choices)) for (const one of chunk.choices) if (isJsonObject(one)) choice(one, out);
      const usage = usageOf(chunk);
      if (usage !== undefined) out.push({ type: 'usage', usage });
      if (!said) odd = redact(JSON.stringify(chunk).slice(0, 200));
      return out;
    },
    end(ending) {
      const out: StreamEvent[] = [];
      segments(filter.end(), out);
      out.push(...calls.end());
      if (!said && ending === 'done') throw new ProviderError('protocol', `The answer has no choices: ${odd}`);
      const complete = stop !== undefined || (said && (ending === 'done' || dialect.endsWithoutFinish));
      if (!complete) return out;
      if (parts > 0 && textPart === undefined && calls.count === 0 && dialect.textCalls) leaked(out);
      const replay = details.replay();
      if (replay !== undefined) out.push({ type: 'replay', part: reasoningPart ?? nextPart(), data: replay });
      out.push({ type: 'finished', stopReason: stop ?? { unified: 'stop', raw: null } });
      return out;
    },
    get finished() {
      return stop !== undefined;
    },
  };

  /** Some templates put the call inside the thinking and leave the answer empty. */
  function leaked(out: StreamEvent[]): void {
    if (out.some((event) => event.type === 'tool_call_delta')) return;
    const again = createTextFilter({ names, textCalls: true, thinkTags: false });
    const found = [...again.push(thoughts), ...again.end()].filter((segment) => segment.type === 'call');
    segments(found, out);
  }
}

/** Stop reasons that a later word may replace: a cut or refused answer stays one. */
const CAN_CHANGE: ReadonlySet<StopReason['unified']> = new Set(['stop', 'tool_calls']);

function isError(value: Json | undefined): boolean {
  return typeof value === 'string' ? value !== '' : isJsonObject(value) && Object.keys(value).length > 0;
}

/** Whether Gemini marks the text of a delta as its thinking. */
function isThought(delta: JsonObject): boolean {
  const google = isJsonObject(delta.extra_content) ? delta.extra_content.google : undefined;
  return isJsonObject(google) && google.thought === true;
}

/** An error in place of a chunk, in any of the shapes that servers use. */
function isFailure(chunk: JsonObject): boolean {
  if (isError(chunk.error)) return true;
  // MiniMax says so with status 200, beside an empty list of choices.
  if (
    isJsonObject(chunk.base_resp) &&
    typeof chunk.base_resp.status_code === 'number' &&
    chunk.base_resp.status_code !== 0
  ) {
    return true;
  }
  if (Array.isArray(chunk.choices) || chunk.usage !== undefined) return false;
  return chunk.object === 'error' || chunk.type === 'error' || typeof chunk.detail === 'string' || saysWhy(chunk);
}

function saysWhy(chunk: JsonObject): boolean {
  const why = chunk.message ?? chunk.msg ?? chunk.error_msg;
  return typeof why === 'string' && why !== '' && chunk.choices === undefined;
}

/** The calls of a whole message are told apart by their place. */
function numbered(message: JsonObject): JsonObject {
  if (!Array.isArray(message.tool_calls)) return message;
  return {
    ...message,
    tool_calls: message.tool_calls.map((call: Json, index) => (isJsonObject(call) ? { ...call, index } : call)),
  };
}
