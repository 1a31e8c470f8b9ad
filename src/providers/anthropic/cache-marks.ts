import type Anthropic from '@anthropic-ai/sdk';
import type { Turn } from './turns.ts';

export type CacheMark = Anthropic.Messages.CacheControlEphemeral;

/**
 * Marks the ends of the last two user turns: the newest, so that this request is written to the cache, and the one before,
 * so that what the previous request wrote is found although a big batch lies between (the server looks back 20 blocks only).
 * With one mark on the system prompt and one on the tools that makes four, the most that the server takes.
 * https://platform.claude.com/docs/en/build-with-claude/prompt-caching
 */
export function markedTurns(turns: readonly Turn[], mark: CacheMark): readonly Turn[] {
  const users = turns.flatMap((turn, index) => (turn.role === 'user' ? [index] : [])).slice(-2);
  return turns.map((turn, index) =>
    users.includes(index) ? { ...turn, content: markedEnd(turn.content, mark) } : turn,
  );
}

/** Never on thinking, which takes no mark; user turns have none. */
function markedEnd(content: Turn['content'], mark: CacheMark): Turn['content'] {
  return content.map((block, index) =>
    index === content.length - 1 && canMark(block) ? { ...block, cache_control: mark } : block,
  );
}

type Markable =
  | Anthropic.Messages.TextBlockParam
  | Anthropic.Messages.ImageBlockParam
  | Anthropic.Messages.DocumentBlockParam
  | Anthropic.Messages.ToolResultBlockParam;

function canMark(block: Anthropic.Messages.ContentBlockParam): block is Markable {
  return block.type === 'text' || block.type === 'image' || block.type === 'document' || block.type === 'tool_result';
}
