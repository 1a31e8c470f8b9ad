import type {
  AgentItem,
  RefusalBlock,
  Replay,
  ReplayScope,
  ResponseRef,
  TextBlock,
  ToolCall,
} from '../transcript/items.ts';
import type { Json, JsonObject } from '../transcript/json.ts';
import { parseCallArguments } from './call-arguments.ts';

/** One part of a response while it arrives. `part` orders them; `text` and `arguments` grow. */
export type Part = TextPart | CallPart | BuiltinPart;

export interface TextPart {
  readonly kind: 'text' | 'refusal' | 'reasoning';
  readonly part: number;
  text: string;
}

export interface CallPart {
  readonly kind: 'call';
  readonly part: number;
  nativeId: string;
  name: string;
  arguments: string;
}

export interface BuiltinPart {
  readonly kind: 'builtin';
  readonly part: number;
  readonly phase: 'call' | 'result';
  readonly nativeId: string;
  readonly name: string;
  payload: Json;
}

/** Name of a call that came without one: no tool has it, so the model is told. */
const UNNAMED_TOOL = 'unnamed_tool';

/** Native order, without parts that hold nothing and are replayed by nothing. Replay data without a part is reasoning. */
export function partsInOrder(parts: readonly Part[], replays: ReadonlyMap<number, JsonObject>): readonly Part[] {
  const known = new Set(parts.map((part) => part.part));
  const bare = [...replays.keys()].filter((part) => !known.has(part));
  const all: Part[] = [...parts, ...bare.map((part): Part => ({ kind: 'reasoning', part, text: '' }))];
  return all
    .filter((part) => {
      if (part.kind === 'text' || part.kind === 'refusal') return part.text.trim() !== '';
      if (part.kind === 'reasoning') return part.text.trim() !== '' || replays.has(part.part);
      return part.kind !== 'call' || part.name !== '' || part.arguments !== '' || part.nativeId !== '';
    })
    .sort((a, b) => a.part - b.part);
}

export function visibleText(parts: readonly Part[]): string {
  return parts.map((part) => (part.kind === 'text' || part.kind === 'refusal' ? part.text : '')).join('');
}

/** The visible text of a response that was cut, as one interrupted message, or nothing. `ref` is asked for only when needed. */
export function interruptedText(parts: readonly Part[], ref: () => ResponseRef): readonly AgentItem[] {
  const content = parts.flatMap((part, index) =>
    part.kind === 'text' || part.kind === 'refusal' ? [{ type: part.kind, text: part.text, part: index }] : [],
  );
  if (content.length === 0) return [];
  return [{ kind: 'assistant_message', schemaVersion: 1, response: ref(), content, interrupted: true }];
}

function replayKey(replay: Replay | undefined): { readonly replay?: Replay } {
  return replay === undefined ? {} : { replay };
}

export interface BuildOptions {
  readonly replays: ReadonlyMap<number, JsonObject>;
  readonly ref: ResponseRef;
  readonly scope: ReplayScope;
  readonly mintCallId: () => string;
  readonly keepCalls: boolean;
  readonly truncated: boolean;
}

/** The items of one response, parts numbered anew from 0 in native order, the batch last. */
export function itemsOf(parts: readonly Part[], options: BuildOptions): readonly AgentItem[] {
  const { replays, ref, scope, mintCallId, keepCalls, truncated } = options;
  const replayOf = (part: number): Replay | undefined => {
    const data = replays.get(part);
    return data === undefined ? undefined : { scope, data };
  };
  const items: AgentItem[] = [];
  const calls: ToolCall[] = [];
  let next = 0;
  for (const part of parts) {
    const replay = replayKey(replayOf(part.part));
    if (part.kind === 'call') {
      if (!keepCalls) continue;
      const made = toolCalls(part, next, replay, mintCallId);
      calls.push(...made);
      next += made.length;
      continue;
    }
    const number = next++;
    if (part.kind === 'text' || part.kind === 'refusal') {
      pushText(items, ref, { type: part.kind, text: part.text, part: number, ...replay });
    } else if (part.kind === 'reasoning') {
      items.push({
        kind: 'reasoning_summary',
        schemaVersion: 1,
        response: ref,
        text: part.text,
        part: number,
        ...replay,
      });
    } else if (part.kind === 'builtin') {
      const { kind: _, ...event } = part;
      items.push({ kind: 'builtin_tool_event', schemaVersion: 1, response: ref, ...event, part: number, ...replay });
    }
  }
  if (truncated) markTruncated(items);
  if (calls.length > 0) items.push({ kind: 'tool_call_batch', schemaVersion: 1, response: ref, calls });
  return items;
}

/** Text that nothing but calls parts from the text before belongs to the same message. */
function pushText(items: AgentItem[], response: ResponseRef, block: TextBlock | RefusalBlock): void {
  const previous = items.at(-1);
  if (previous?.kind === 'assistant_message')
    items[items.length - 1] = { ...previous, content: [...previous.content, block] };
  else items.push({ kind: 'assistant_message', schemaVersion: 1, response, content: [block] });
}

function markTruncated(items: AgentItem[]): void {
  const index = items.findLastIndex((item) => item.kind === 'assistant_message');
  const message = items[index];
  if (message?.kind === 'assistant_message') items[index] = { ...message, truncated: true };
}

/** The calls of one native call: more than one when the server merged several into it. Only the first has its id and replay data. */
function toolCalls(part: CallPart, from: number, replay: { readonly replay?: Replay }, mint: () => string): ToolCall[] {
  return parseCallArguments(part.arguments).map((parsed, index) => {
    const error = part.name === '' ? 'The call names no tool.' : parsed.ok ? undefined : parsed.error;
    return {
      callId: mint(),
      nativeId: index === 0 ? part.nativeId : '',
      name: part.name || UNNAMED_TOOL,
      arguments: parsed.ok ? parsed.value : {},
      part: from + index,
      ...(parsed.ok ? {} : { rawArguments: parsed.raw }),
      ...(error === undefined ? {} : { argumentsError: error }),
      ...(index === 0 ? replay : {}),
    };
  });
}
