import { assertNever } from './assert-never.ts';
import type { AgentItem, Replay } from './items.ts';
import { isScoped } from './replay-scope.ts';

/**
 * Whether an item says nothing and carries nothing to replay, so that it must not exist.
 *
 * An empty text with replay data does exist: some providers sign an empty part. A user message is never empty in this
 * sense: what a person sent stays, and adapters decide how an empty one goes out.
 */
export function isEmptyItem(item: AgentItem): boolean {
  switch (item.kind) {
    case 'assistant_message':
      return item.content.every((block) => block.type !== 'extension' && block.text === '' && !hasReplay(block));
    case 'reasoning_summary':
      return item.text === '' && !hasReplay(item);
    case 'tool_call_batch':
      return item.calls.length === 0;
    case 'user_message':
    case 'tool_result_batch':
    case 'builtin_tool_event':
    case 'compaction_summary':
      return false;
    default:
      return assertNever(item, 'item kind');
  }
}

function hasReplay({ replay }: { readonly replay?: Replay }): boolean {
  return replay !== undefined && isScoped(replay);
}
