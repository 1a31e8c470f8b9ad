import { isJsonObject, type Json, type JsonObject } from '../../transcript/json.ts';
import type { StopReason } from '../../transcript/message.ts';
import type { StreamEvent } from '../../transcript/stream-event.ts';
import { ProviderError } from '../errors.ts';
import { redact } from '../redact.ts';
import { StreamFailure } from '../stream-failure.ts';
import type { ToolNames } from '../tool-names.ts';
import { isError, isFailure } from './chunk-failure.ts';
import { textOf, thinkingOf } from './content.ts';
import type { Dialect } from './dialects.ts';
import { stopReasonOf } from './finish.ts';
import { createPartWriter, type PartWriter } from './part-writer.ts';
import { createDetailCollector, type DetailCollector } from './reasoning-details.ts';
import { createTextFilter, type TextFilter } from './text-filter.ts';
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
  const answer: OpenAnswer = {
    dialect,
    filter: createTextFilter({ names, textCalls: dialect.textCalls, thinkTags: dialect.reasoning.tags }),
    details: createDetailCollector(),
    parts: createPartWriter(names),
  };
  const { filter, details, parts } = answer;
  let started = false;
  let choiceIndex: Json | undefined;
  let stop: StopReason | undefined;
  let said = false;
  let odd = 'it is empty';

  const choice = (value: JsonObject): void => {
    choiceIndex ??= value.index ?? 0;
    if ((value.index ?? 0) !== choiceIndex) return;
    if (isError(value.error)) throw new StreamFailure(value);
    said = true;
    if (isJsonObject(value.delta)) readDelta(value.delta, answer);
    else if (isJsonObject(value.message)) readMessage(value.message, answer);
    const raw = value.finish_reason;
    if (typeof raw !== 'string' || raw === '' || raw === 'null') return;
    const next = stopReasonOf(raw);
    if (stop === undefined || CAN_CHANGE.has(stop.unified)) stop = next;
  };

  return {
    push(chunk) {
      if (!isJsonObject(chunk)) return [];
      if (isFailure(chunk)) throw new StreamFailure(chunk);
      const before: StreamEvent[] = [];
      if (!started && typeof chunk.id === 'string') {
        started = true;
        before.push({
          type: 'response_started',
          id: chunk.id,
          model: typeof chunk.model === 'string' ? chunk.model : '',
        });
      }
      for (const one of choicesOf(chunk)) choice(one);
      if (!said) odd = redact(JSON.stringify(chunk).slice(0, 200));
      const usage = usageOf(chunk);
      const after: readonly StreamEvent[] = usage === undefined ? [] : [{ type: 'usage', usage }];
      return before.length + after.length === 0 ? parts.take() : [...before, ...parts.take(), ...after];
    },
    end(ending) {
      parts.segments(filter.end());
      parts.endCalls();
      if (!said && ending === 'done') throw new ProviderError('protocol', `The answer has no choices: ${odd}`);
      const complete = stop !== undefined || (said && (ending === 'done' || dialect.endsWithoutFinish));
      if (!complete) return parts.take();
      if (dialect.textCalls && !parts.spoke) callsInThinking(parts, names);
      const replay = details.replay();
      if (replay !== undefined) parts.onReasoning(replay);
      return [...parts.take(), { type: 'finished', stopReason: stop ?? { unified: 'stop', raw: null } }];
    },
    get finished() {
      return stop !== undefined;
    },
  };
}

/** Stop reasons that a later word may replace: a cut or refused answer stays one. */
const CAN_CHANGE: ReadonlySet<StopReason['unified']> = new Set(['stop', 'tool_calls']);

/** The choices of a chunk, the first one first: only that is read. */
function choicesOf({ choices }: JsonObject): readonly JsonObject[] {
  const list = Array.isArray(choices) ? choices.filter(isJsonObject) : [];
  return list.length < 2 ? list : [...list].sort((a, b) => Number(a.index ?? 0) - Number(b.index ?? 0));
}

interface OpenAnswer {
  readonly dialect: Dialect;
  readonly filter: TextFilter;
  readonly details: DetailCollector;
  readonly parts: PartWriter;
}

function readDelta(delta: JsonObject, { dialect, filter, details, parts }: OpenAnswer): void {
  const field = dialect.reasoning.in.find((key) => typeof delta[key] === 'string' && delta[key] !== '');
  parts.reasoning(field === undefined ? thinkingOf(delta.content) : String(delta[field]), {
    field: field ?? 'content',
  });
  details.push(delta.reasoning_details);
  const text = textOf(delta.content);
  const thought = isThought(delta);
  if (thought) parts.reasoning(text.replace(/<\/?thought>/g, ''));
  else if (text !== '') parts.segments(filter.push(text));
  if (typeof delta.refusal === 'string' && delta.refusal !== '') parts.refusal(delta.refusal);
  parts.toolCalls(delta.tool_calls);
  if (isJsonObject(delta.function_call)) parts.toolCalls({ index: 0, function: delta.function_call });
  if (isJsonObject(delta.extra_content) && !thought) parts.onText({ extra_content: delta.extra_content });
}

/** A whole message: the answer to a request that was not streamed, or a repetition at a stream's end, of which only what did not come before counts. */
function readMessage(message: JsonObject, answer: OpenAnswer): void {
  // The calls of a whole message are told apart by their place.
  const calls = Array.isArray(message.tool_calls)
    ? message.tool_calls.map((call: Json, index) => (isJsonObject(call) ? { ...call, index } : call))
    : undefined;
  if (answer.parts.empty) readDelta(calls === undefined ? message : { ...message, tool_calls: calls }, answer);
  else if (!answer.parts.hasCalls) answer.parts.toolCalls(calls);
}

/** Whether Gemini marks the text of a delta as its thinking. */
function isThought(delta: JsonObject): boolean {
  const google = isJsonObject(delta.extra_content) ? delta.extra_content.google : undefined;
  return isJsonObject(google) && google.thought === true;
}

/** Some templates put the call inside the thinking and leave the answer empty. */
function callsInThinking(parts: PartWriter, names: ToolNames): void {
  const filter = createTextFilter({ names, textCalls: true, thinkTags: false });
  const found = [...filter.push(parts.thoughts), ...filter.end()];
  parts.segments(found.filter((segment) => segment.type === 'call'));
}
