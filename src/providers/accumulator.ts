import { assertNever } from '../transcript/assert-never.ts';
import type { AgentItem, Api, ReplayScope, ResponseRef } from '../transcript/items.ts';
import type { JsonObject } from '../transcript/json.ts';
import type { StopReason, UnifiedStopReason, Usage } from '../transcript/message.ts';
import type { StreamEvent } from '../transcript/stream-event.ts';
import { ProviderError } from './errors.ts';
import { interruptedText, itemsOf, type Part, partsInOrder, type TextPart, visibleText } from './response-items.ts';

export interface AccumulatorOptions {
  readonly response: { readonly provider: string; readonly api: Api; readonly model: string };
  readonly scope: ReplayScope;
  /** Fresh ids, unique in the session; called once a kept call, in order. */
  readonly mintCallId: () => string;
  /** Id of a response whose provider gave none. Default: `mintCallId`. */
  readonly mintResponseId?: () => string;
}

/** One whole response. */
export interface AccumulatedResponse {
  /** Parts in native order; the batch, if any, is last. Empty when the model said nothing. */
  readonly items: readonly AgentItem[];
  readonly stopReason: StopReason;
  /** `null`: unknown. All zeros count as unknown. */
  readonly usage: Usage | null;
  /** Visible text (refusals included), parts joined as they are. */
  readonly text: string;
  /** Names of calls that came but may not run, because the response was cut or refused. They are in no item. */
  readonly discardedCalls: readonly string[];
}

export interface Accumulator {
  add(event: StreamEvent): void;
  /** @throws ProviderError `incomplete_stream` when no `finished` event came. */
  finish(): AccumulatedResponse;
  /** What may be kept of a response that was cut: its visible text as one interrupted message, or nothing. Never calls. */
  partial(): readonly AgentItem[];
}

/** Whether calls of a response that stopped so may run. A cut or refused response may hold half a call. */
const CALLS_RUN: Readonly<Record<UnifiedStopReason, boolean>> = {
  stop: true,
  tool_calls: true,
  pause: true,
  length: false,
  context_overflow: false,
  refusal: false,
  content_filter: false,
};

/** Turns the events of one response into items. Text and arguments are appended; names and ids are replaced by later ones. */
export function createAccumulator(options: AccumulatorOptions): Accumulator {
  const { scope, mintCallId, mintResponseId = mintCallId } = options;
  const parts: Part[] = [];
  const replays = new Map<number, JsonObject>();
  let last: Part | undefined;
  let nativeResponseId = '';
  let response: ResponseRef | undefined;
  let usage: Partial<Usage> = {};
  let finished: StopReason | undefined;

  const find = <K extends Part['kind']>(kind: K, part: number): Extract<Part, { kind: K }> | undefined => {
    if (last?.kind === kind && last.part === part) return last as Extract<Part, { kind: K }>;
    return parts.find((p): p is Extract<Part, { kind: K }> => p.kind === kind && p.part === part);
  };
  const open = <P extends Part>(part: P): P => {
    parts.push(part);
    last = part;
    return part;
  };
  const appendText = (kind: TextPart['kind'], part: number, text: string): void => {
    const target = find(kind, part) ?? open({ kind, part, text: '' });
    target.text += text;
    last = target;
  };
  const appendCall = (event: Extract<StreamEvent, { type: 'tool_call_delta' }>): void => {
    const target =
      find('call', event.part) ?? open({ kind: 'call', part: event.part, nativeId: '', name: '', arguments: '' });
    if (event.nativeId) target.nativeId = event.nativeId;
    if (event.name) target.name = event.name;
    if (event.arguments !== undefined) target.arguments += event.arguments;
    last = target;
  };
  /** An id that comes again in one phase is the same event told anew. */
  const setBuiltin = ({ type: _, ...event }: Extract<StreamEvent, { type: 'builtin_tool' }>): void => {
    const known = parts.find(
      (part) => part.kind === 'builtin' && part.phase === event.phase && part.nativeId === event.nativeId,
    );
    if (known?.kind === 'builtin') known.payload = event.payload;
    else open({ kind: 'builtin', ...event });
  };
  const ref = (): ResponseRef => {
    response ??= { id: nativeResponseId || mintResponseId(), ...options.response };
    return response;
  };

  return {
    add(event) {
      switch (event.type) {
        case 'response_started':
          nativeResponseId ||= event.id;
          return;
        case 'text_delta':
          return appendText('text', event.part, event.text);
        case 'refusal_delta':
          return appendText('refusal', event.part, event.text);
        case 'reasoning_delta':
          return appendText('reasoning', event.part, event.text);
        case 'tool_call_delta':
          return appendCall(event);
        case 'builtin_tool':
          setBuiltin(event);
          return;
        case 'replay':
          replays.set(event.part, { ...replays.get(event.part), ...event.data });
          return;
        case 'part_done':
          return;
        case 'usage':
          usage = { ...usage, ...event.usage };
          return;
        case 'finished':
          finished = event.stopReason;
          return;
        default:
          return assertNever(event, 'stream event');
      }
    },
    finish() {
      if (finished === undefined) {
        throw new ProviderError('incomplete_stream', 'The response broke off before it was finished.');
      }
      const unified = unifiedStop(finished.unified, parts);
      const keepCalls = CALLS_RUN[unified];
      const truncated = unified === 'length' || unified === 'context_overflow';
      const ordered = partsInOrder(parts, replays);
      return {
        items: itemsOf(ordered, { replays, ref: ref(), scope, mintCallId, keepCalls, truncated }),
        stopReason: { unified, raw: finished.raw },
        usage: knownUsage(usage),
        text: visibleText(ordered),
        discardedCalls: keepCalls ? [] : ordered.flatMap((part) => (part.kind === 'call' ? [part.name] : [])),
      };
    },
    partial: () => interruptedText(partsInOrder(parts, replays), ref),
  };
}

/** Presence of calls decides, not the server's word: many say `stop` with calls, some `tool_calls` with none. */
function unifiedStop(said: UnifiedStopReason, parts: readonly Part[]): UnifiedStopReason {
  if (!CALLS_RUN[said]) return said;
  if (parts.some((part) => part.kind === 'refusal' && part.text !== '')) return 'refusal';
  if (parts.some((part) => part.kind === 'call')) return 'tool_calls';
  return said === 'tool_calls' ? 'stop' : said;
}

function knownUsage(usage: Partial<Usage>): Usage | null {
  if (!usage.inputTokens && !usage.outputTokens) return null;
  return { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0, ...usage };
}
