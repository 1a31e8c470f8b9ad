import { createHash } from 'node:crypto';
import type { Message, ToolUseBlock } from '../../transcript/message.ts';

/** What `tool_use.id` may be (Messages API reference: pattern `^[a-zA-Z0-9_-]+$`). */
const LEGAL = /^[a-zA-Z0-9_-]{1,64}$/;

/**
 * Ids under which the calls of a request go out, by our call id. The fixed wire id or the native id where it is legal and
 * still free, else a hash of ours. Depends on earlier calls only, so a longer conversation keeps the ids of a shorter one.
 */
export function wireCallIds(messages: readonly Message[]): ReadonlyMap<string, string> {
  const ids = new Map<string, string>();
  const taken = new Set<string>();
  for (const message of messages) {
    if (message.role !== 'assistant') continue;
    for (const block of message.content) {
      if (block.type !== 'tool_use' || ids.has(block.callId)) continue;
      const id = freeId(block, taken);
      ids.set(block.callId, id);
      taken.add(id);
    }
  }
  return ids;
}

function freeId(block: ToolUseBlock, taken: ReadonlySet<string>): string {
  for (const id of [block.wireId, block.nativeId]) {
    if (id !== undefined && LEGAL.test(id) && !taken.has(id)) return id;
  }
  return `toolu_${createHash('sha256').update(block.callId).digest('hex').slice(0, 24)}`;
}
