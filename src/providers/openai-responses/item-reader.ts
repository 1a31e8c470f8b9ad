import { isJsonObject, type Json, type JsonObject } from '../../transcript/json.ts';
import type { StreamEvent } from '../../transcript/stream-event.ts';
import { argumentsCompleted, completed, grown, type OutputItem, PARAGRAPH, partEvent, partOf } from './output-item.ts';
import { itemReplay, reasoningReplay, textsOf } from './replay-data.ts';

/** Reads output items, whether they come in deltas, whole, or both. */
export interface ItemReader {
  /** One event about an item. */
  read(event: JsonObject): readonly StreamEvent[];
  /** The output of a finished response: items that were not streamed are read now, the others are known. */
  whole(output: readonly Json[]): readonly StreamEvent[];
}

export function createItemReader(): ItemReader {
  const items = new Map<number, OutputItem>();
  const seenIds = new Set<string>();
  const indexes = new Map<string, number>();

  const itemAt = (index: number): OutputItem => {
    const known = items.get(index);
    if (known !== undefined) return known;
    const item: OutputItem = { index, type: '', texts: new Map(), reasoningFrom: undefined, done: false };
    items.set(index, item);
    return item;
  };
  /** Which item an event is about. llama.cpp gives no `output_index`, only ids: its items count in the order in which they appear. */
  const indexOf = (event: JsonObject, native: JsonObject | undefined): number => {
    const id = textOf(native === undefined ? event.item_id : native.id);
    const index = typeof event.output_index === 'number' ? event.output_index : (indexes.get(id) ?? guessed(event));
    if (id !== '') indexes.set(id, index);
    return index;
  };
  /** An item that begins is a new one; everything else belongs to the last, unless that is already whole. */
  const guessed = (event: JsonObject): number => {
    const last = items.size === 0 ? undefined : Math.max(...items.keys());
    if (last === undefined) return 0;
    const begins = event.type === 'response.output_item.added';
    return begins || (event.item !== undefined && items.get(last)?.done === true) ? last + 1 : last;
  };
  const remember = (native: JsonObject): void => {
    for (const id of [native.id, native.call_id]) if (typeof id === 'string' && id !== '') seenIds.add(id);
  };
  const known = (native: JsonObject): boolean =>
    [native.id, native.call_id].some((id) => typeof id === 'string' && seenIds.has(id));

  return {
    read(event) {
      const native = isJsonObject(event.item) ? event.item : undefined;
      const index = indexOf(event, native);
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

function opened(item: OutputItem, native: JsonObject): readonly StreamEvent[] {
  item.type = textOf(native.type);
  return isCall(item.type) ? [callStarted(item, native)] : [];
}

function isCall(type: string): boolean {
  return type === 'function_call' || type === 'custom_tool_call';
}

function callStarted(item: OutputItem, native: JsonObject): StreamEvent {
  return { type: 'tool_call_delta', part: partOf(item), nativeId: textOf(native.call_id), name: textOf(native.name) };
}

/** A whole item: what deltas did not bring, and what it must be replayed with. */
function closed(item: OutputItem, native: JsonObject): readonly StreamEvent[] {
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

function messageClosed(item: OutputItem, native: JsonObject): readonly StreamEvent[] {
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

function reasoningClosed(item: OutputItem, native: JsonObject): readonly StreamEvent[] {
  const text = textsOf(native.summary).join(PARAGRAPH) || textsOf(native.content).join('');
  const rest = item.texts.has(0) ? [] : grown(item, 'reasoning_delta', 0, text);
  const part = partOf(item);
  return [...rest, { type: 'replay', part, data: reasoningReplay(native) }, { type: 'part_done', part }];
}

function callClosed(item: OutputItem, native: JsonObject, args: string, announced: boolean): readonly StreamEvent[] {
  const part = partOf(item);
  const start = announced ? [] : [callStarted(item, native)];
  const data = itemReplay(native);
  return [...start, ...argumentsCompleted(item, args), { type: 'replay', part, data }, { type: 'part_done', part }];
}

/** One item is both call and result here; its payload goes back as it came. */
function builtin(item: OutputItem, native: JsonObject): readonly StreamEvent[] {
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
