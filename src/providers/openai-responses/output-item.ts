import type { Json, JsonObject } from '../../transcript/json.ts';
import type { StreamEvent } from '../../transcript/stream-event.ts';

/** Content parts of one item are numbered within this span, so that parts keep the order of items. */
const PARTS_PER_ITEM = 1000;

type TextKind = 'text_delta' | 'refusal_delta' | 'reasoning_delta';

/** What came of one output item. `texts`: what each part has so far. */
export interface OutputItem {
  readonly index: number;
  type: string;
  readonly texts: Map<number, string>;
  /** Where the reasoning text comes from: summary and content tell the same twice. */
  reasoningFrom: 'summary' | 'content' | undefined;
  done: boolean;
}

/** The deltas and the final texts of one part of an item. A final text adds only what no delta brought. */
export function partEvent(item: OutputItem, event: JsonObject): readonly StreamEvent[] {
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

export function partOf(item: OutputItem, content = 0): number {
  return item.index * PARTS_PER_ITEM + Math.min(content, PARTS_PER_ITEM - 1);
}

export function grown(item: OutputItem, type: TextKind, content: number, text: string): readonly StreamEvent[] {
  if (text === '') return [];
  item.texts.set(content, (item.texts.get(content) ?? '') + text);
  return [{ type, part: partOf(item, content), text }];
}

export function completed(item: OutputItem, type: TextKind, content: number, text: string): readonly StreamEvent[] {
  const have = item.texts.get(content) ?? '';
  return text.startsWith(have) ? grown(item, type, content, text.slice(have.length)) : [];
}

function reasoned(item: OutputItem, from: 'summary' | 'content', text: string): readonly StreamEvent[] {
  item.reasoningFrom ??= from;
  return item.reasoningFrom === from ? grown(item, 'reasoning_delta', 0, text) : [];
}

/** Summary parts become paragraphs of one text. */
function summaryBreak(item: OutputItem, event: JsonObject): readonly StreamEvent[] {
  const later = typeof event.summary_index === 'number' && event.summary_index > 0;
  return later && item.reasoningFrom === 'summary' ? grown(item, 'reasoning_delta', 0, PARAGRAPH) : [];
}

export const PARAGRAPH = '\n\n';

function argumentsGrown(item: OutputItem, text: string): readonly StreamEvent[] {
  if (text === '') return [];
  item.texts.set(0, (item.texts.get(0) ?? '') + text);
  return [{ type: 'tool_call_delta', part: partOf(item), arguments: text }];
}

export function argumentsCompleted(item: OutputItem, text: string): readonly StreamEvent[] {
  const have = item.texts.get(0) ?? '';
  return text.startsWith(have) ? argumentsGrown(item, text.slice(have.length)) : [];
}

function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}
