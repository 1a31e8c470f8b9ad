import { assertNever } from '../transcript/assert-never.ts';
import type { AgentItem, ContentBlock, RefusalBlock, ToolCall } from '../transcript/items.ts';
import type { Json } from '../transcript/json.ts';

/** What a search finds or does not: an item, or one result of a batch. */
export interface SearchUnit {
  readonly text: string;
  /** The call whose output it is. */
  readonly callId?: string;
}

/** What an item says, to people and to the model; a tool's output as far as the item has it. */
export function searchUnits(item: AgentItem): readonly SearchUnit[] {
  switch (item.kind) {
    case 'user_message':
    case 'assistant_message':
      return [{ text: blocksText(item.content) }];
    case 'reasoning_summary':
    case 'compaction_summary':
      return [{ text: item.text }];
    case 'tool_call_batch':
      return [{ text: item.calls.map(callText).join('\n') }];
    case 'tool_result_batch':
      return item.results.map(({ callId, content }) => ({ callId, text: blocksText(content) }));
    case 'builtin_tool_event':
      return [{ text: `${item.name}\n${valuesText(item.payload)}` }];
    default:
      return assertNever(item, 'item kind');
  }
}

function callText({ name, arguments: args, rawArguments }: ToolCall): string {
  return [name, rawArguments ?? valuesText(args)].join('\n');
}

/** Texts, and the names of media; nothing that the item's own JSON does not hold, so that a database can look first. */
function blocksText(content: readonly (ContentBlock | RefusalBlock)[]): string {
  return content
    .flatMap((block) => {
      if (block.type === 'text' || block.type === 'refusal') return [block.text];
      return block.type === 'extension' ? [] : [block.media.name ?? block.media.mediaType];
    })
    .join('\n');
}

/** Keys and values of JSON without its marks: a word of a person is then found as they would write it. */
function valuesText(value: Json): string {
  if (Array.isArray(value)) return value.map(valuesText).join('\n');
  if (typeof value !== 'object' || value === null) return String(value);
  return Object.entries(value)
    .map(([key, each]) => `${key} ${valuesText(each as Json)}`)
    .join('\n');
}
