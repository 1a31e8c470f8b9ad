import { isJsonObject, type Json, type JsonObject } from '../../transcript/json.ts';
import type { StreamEvent } from '../../transcript/stream-event.ts';
import { itemReplay, reasoningReplay, textsOf } from './replay-data.ts';

/** Reads output items, whether they come in deltas, whole, or both. */
export interface ItemReader {
  /** One event about an item. */
  read(event: JsonObject): readonly StreamEvent[];
  /** The output of a finished response: items that were not streamed are read now, the others are known. */
  whole(output: readonly Json[]): readonly StreamEvent[];
}

/** Content parts of one item are numbered within this span, so that parts keep the order of items. */
const PARTS_PER_ITEM = 1000;

type TextKind = 'text_delta' | 'refusal_delta' | 'reasoning_delta';

/** What came of one output item. `texts`: what each part has so far. */
interface Item {
  readonly index: number;
  type: string;
  readonly texts: Map<number, string>;
  /** Where the reasoning text comes from: summary and content tell the same twice. */
  reasoningFrom: 'summary' | 'content' | undefined;
  done: boolean;
}

export function createItemReader(): ItemReader {
  const items = new Map<number, Item>();
  const seenIds = new Set<string>();

  const itemAt = (index: number): Item => {
    const known = items.get(index);
    if (known !== undefined) return known;
    const item: Item = { index, type: '', texts: new Map(), reasoningFrom: undefined, done: false };
    items.set(index, item);
    return item;
  };
  const remember = (native: JsonObject): void => {
    for (const id of [native.id, native.call_id]) if (typeof id === 'string' && id !== '') seenIds.add(id);
  };
  const known = (native: JsonObject): boolean =>
    [native.id, native.call_id].some((id) => typeof id === 'string' && seenIds.has(id));

  return {
    read(event) {
      const index = typeof event.output_index === 'number' ? event.output_index : 0;
      const native = isJsonObject(event.item) ? event.item : undefined;
      if (event.type === 'response.output_item.added' && native !== undefined) {
        remember(native);
        return opened(itemAt(index), native);
      }
      if (event.type === 'response.output_item.done' && native !== undefined) {
        remember(native);
        return closed(itemAt(index), native);
      }
      return partEvent(itemAt(index), event);
    },
    whole(output) {
      return output.flatMap((native, index) => {
        if (!isJsonObject(native)) return [];
        const item = items.get(index);
        if (item?.done === true || (item === undefined && known(native))) return [];
        return closed(itemAt(index), native);
      });
    },
  };
}

function opened(item: Item, native: JsonObject): readonly StreamEvent[] {
  item.type = textOf(native.type);
  return isCall(item.type) ? [callStarted(item, native)] : [];
}

function isCall(type: string): boolean {
  return type === 'function_call' || type === 'custom_tool_call';
}

function callStarted(item: Item, native: JsonObject): StreamEvent {
  return { type: 'tool_call_delta', part: partOf(item), nativeId: textOf(native.call_id), name: textOf(native.name) };
}

/** The deltas and the final texts of one part of an item. A final text adds only what no delta brought. */
function partEvent(item: Item, event: JsonObject): readonly StreamEvent[] {
  const content = typeof event.content_index === 'number' ? event.content_index : 0;
  switch (event.type) {
    case 'response.output_text.delta':
      return grown(item, 'text_delta', content, textOf(event.delta));
    case 'response.output_text.done':
      return completed(item, 'text_delta', content, textOf(event.text));
    case 'response.refusal.delta':
      return grown(item, 'refusal_delta', content, textOf(event.delta));
    case 'response.refusal.done':
      return completed(item, 'refusal_delta', content, textOf(event.refusal));
    case 'response.reasoning_summary_part.added':
      return summaryBreak(item, event);
    case 'response.reasoning_summary_text.delta':
      return reasoned(item, 'summary', textOf(event.delta));
    case 'response.reasoning_text.delta':
      return reasoned(item, 'content', textOf(event.delta));
    case 'response.function_call_arguments.delta':
      return argumentsGrown(item, textOf(event.delta));
    case 'response.function_call_arguments.done':
      return argumentsCompleted(item, textOf(event.arguments));
    default:
      // The rest tells of progress, or of inputs that the finished item holds whole.
      return [];
  }
}

function partOf(item: Item, content = 0): number {
  return item.index * PARTS_PER_ITEM + Math.min(content, PARTS_PER_ITEM - 1);
}

function grown(item: Item, type: TextKind, content: number, text: string): readonly StreamEvent[] {
  if (text === '') return [];
  item.texts.set(content, (item.texts.get(content) ?? '') + text);
  return [{ type, part: partOf(item, content), text }];
}

function completed(item: Item, type: TextKind, content: number, text: string): readonly StreamEvent[] {
  const have = item.texts.get(content) ?? '';
  return text.startsWith(have) ? grown(item, type, content, text.slice(have.length)) : [];
}

function reasoned(item: Item, from: 'summary' | 'content', text: string): readonly StreamEvent[] {
  item.reasoningFrom ??= from;
  return item.reasoningFrom === from ? grown(item, 'reasoning_delta', 0, text) : [];
}

/** Summary parts become paragraphs of one text. */
function summaryBreak(item: Item, event: JsonObject): readonly StreamEvent[] {
  const later = typeof event.summary_index === 'number' && event.summary_index > 0;
  return later && item.reasoningFrom === 'summary' ? grown(item, 'reasoning_delta', 0, PARAGRAPH) : [];
}

const PARAGRAPH = '\n\n';

function argumentsGrown(item: Item, text: string): readonly StreamEvent[] {
  if (text === '') return [];
  item.texts.set(0, (item.texts.get(0) ?? '') + text);
  return [{ type: 'tool_call_delta', part: partOf(item), arguments: text }];
}

function argumentsCompleted(item: Item, text: string): readonly StreamEvent[] {
  const have = item.texts.get(0) ?? '';
  return text.startsWith(have) ? argumentsGrown(item, text.slice(have.length)) : [];
}

/** A whole item: what deltas did not bring, and what it must be replayed with. */
function closed(item: Item, native: JsonObject): readonly StreamEvent[] {
  if (item.done) return [];
  item.done = true;
  const announced = item.type !== '';
  item.type = textOf(native.type);
  switch (item.type) {
    case 'message':
      return messageClosed(item, native);
    case 'reasoning':
      return reasoningClosed(item, native);
    case 'function_call':
      return callClosed(item, native, textOf(native.arguments), announced);
    case 'custom_tool_call':
      // Free-form input: in our words an object with one field, turned back when it is replayed.
      return callClosed(item, native, JSON.stringify({ input: textOf(native.input) }), announced);
    default:
      // Not assertNever: whatever else stands in the output is a tool that the provider ran, of a kind it may just have added.
      return builtin(item, native);
  }
}

function messageClosed(item: Item, native: JsonObject): readonly StreamEvent[] {
  const content = Array.isArray(native.content) ? (native.content as readonly Json[]) : [];
  const texts = content.flatMap((part, index) => {
    if (!isJsonObject(part)) return [];
    if (part.type === 'refusal') return completed(item, 'refusal_delta', index, textOf(part.refusal));
    return completed(item, 'text_delta', index, textOf(part.text));
  });
  const data = itemReplay(native);
  const parts = [...item.texts.keys()].sort((a, b) => a - b);
  const replays = parts.map((part): StreamEvent => ({ type: 'replay', part: partOf(item, part), data }));
  return [...texts, ...replays, ...parts.map((part): StreamEvent => ({ type: 'part_done', part: partOf(item, part) }))];
}

function reasoningClosed(item: Item, native: JsonObject): readonly StreamEvent[] {
  const text = textsOf(native.summary).join(PARAGRAPH) || textsOf(native.content).join('');
  const rest = item.texts.has(0) ? [] : grown(item, 'reasoning_delta', 0, text);
  const part = partOf(item);
  return [...rest, { type: 'replay', part, data: reasoningReplay(native) }, { type: 'part_done', part }];
}

function callClosed(item: Item, native: JsonObject, args: string, announced: boolean): readonly StreamEvent[] {
  const part = partOf(item);
  const start = announced ? [] : [callStarted(item, native)];
  const data = itemReplay(native);
  return [...start, ...argumentsCompleted(item, args), { type: 'replay', part, data }, { type: 'part_done', part }];
}

/** One item is both call and result here; its payload goes back as it came. */
function builtin(item: Item, native: JsonObject): readonly StreamEvent[] {
  const part = partOf(item);
  const name = item.type.replace(/_call$/, '');
  const nativeId = textOf(native.id) || textOf(native.call_id);
  return [
    { type: 'builtin_tool', part, phase: 'call', nativeId, name, payload: native },
    { type: 'replay', part, data: { native: true } },
    { type: 'part_done', part },
  ];
}

function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}
