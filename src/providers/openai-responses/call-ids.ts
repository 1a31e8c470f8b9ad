import { createHash } from 'node:crypto';
import type { Message, ToolUseBlock } from '../../transcript/message.ts';

/** `call_id` is at most 64 characters long; the alphabet is the one that all servers of this format take. */
const LEGAL = /^[a-zA-Z0-9_-]{1,64}$/;

/** How one call goes out: its id on the wire, and whether it was a free-form call, whose result has another type. */
export interface WireCall {
  readonly id: string;
  readonly custom: boolean;
}

/**
 * The calls of a request by our call id. The fixed wire id or the native id where it is legal and still free, else a hash
 * of ours. Depends on earlier calls only, so a longer conversation keeps the ids of a shorter one.
 */
export function wireCalls(
  messages: readonly Message[],
  isCustom: (block: ToolUseBlock) => boolean,
): ReadonlyMap<string, WireCall> {
  const calls = new Map<string, WireCall>();
  const taken = new Set<string>();
  for (const message of messages) {
    if (message.role !== 'assistant') continue;
    for (const block of message.content) {
      if (block.type !== 'tool_use' || calls.has(block.callId)) continue;
      const id = freeId(block, taken);
      calls.set(block.callId, { id, custom: isCustom(block) });
      taken.add(id);
    }
  }
  return calls;
}

function freeId(block: ToolUseBlock, taken: ReadonlySet<string>): string {
  for (const id of [block.wireId, block.nativeId]) {
    if (id !== undefined && LEGAL.test(id) && !taken.has(id)) return id;
  }
  return `call_${createHash('sha256').update(block.callId).digest('hex').slice(0, 24)}`;
}
