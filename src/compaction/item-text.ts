import { assertNever } from '../transcript/assert-never.ts';
import type { AgentItem, ContentBlock, RefusalBlock } from '../transcript/items.ts';
import { truncateOutput } from '../transcript/truncate.ts';
import type { ViewPart } from '../transcript/view.ts';

/** An item as the store has it, whatever a view shows of it. */
export function storedItem({ item, original }: Pick<ViewPart, 'item' | 'original'>): AgentItem {
  return original ?? item;
}

/** The words of some blocks; media and extensions have none. */
export function textOf(content: readonly (ContentBlock | RefusalBlock)[]): string {
  return content.flatMap((block) => (block.type === 'text' || block.type === 'refusal' ? [block.text] : [])).join('\n');
}

/** A text on one line, without white space around it. */
export function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

/** Beginning and end of a text on one line, within `maxTokens`. */
export function shortLine(text: string, maxTokens: number): string {
  return truncateOutput(oneLine(text), { maxTokens, readBy: 'read_transcript' }).text.replace(/\n/g, ' ');
}

/** All that an item says, for search of names: texts, arguments, outputs. Reasoning is the model's own and left out. */
export function spokenText(item: AgentItem): string {
  switch (item.kind) {
    case 'user_message':
    case 'assistant_message':
      return textOf(item.content);
    case 'tool_call_batch':
      return item.calls.map((call) => leaves(call.arguments).join('\n')).join('\n');
    case 'tool_result_batch':
      return item.results.map((result) => textOf(result.content)).join('\n');
    case 'builtin_tool_event':
      return leaves(item.payload).join('\n');
    case 'reasoning_summary':
    case 'compaction_summary':
      return '';
    default:
      return assertNever(item, 'item kind');
  }
}

/** Strings and numbers of a JSON value, each with the key that it stands under. */
function leaves(value: unknown, key = ''): readonly string[] {
  if (typeof value === 'string' || typeof value === 'number') return [key === '' ? `${value}` : `${key} ${value}`];
  if (Array.isArray(value)) return value.flatMap((entry) => leaves(entry, key));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, entry]) => leaves(entry, name));
}
