import { createHash } from 'node:crypto';
import type { Message, ToolUseBlock } from '../../transcript/message.ts';

/** What a server takes as the id of a call, and how one is made where the known ones are not legal. */
export interface CallIdRule {
  readonly legal: RegExp;
  readonly prefix: string;
  /** Characters, prefix included. */
  readonly length: number;
}

/**
 * Ids under which the calls of a request go out, by our call id: the fixed wire id or the native id where it is legal and
 * still free, else a hash of ours. Depends on earlier calls only, so a longer conversation keeps the ids of a shorter one.
 */
export function wireCallIds(messages: readonly Message[], rule: CallIdRule): ReadonlyMap<string, string> {
  const ids = new Map<string, string>();
  const taken = new Set<string>();
  for (const message of messages) {
    if (message.role !== 'assistant') continue;
    for (const block of message.content) {
      if (block.type !== 'tool_use' || ids.has(block.callId)) continue;
      const id = freeId(block, rule, taken);
      ids.set(block.callId, id);
      taken.add(id);
    }
  }
  return ids;
}

function freeId(block: ToolUseBlock, rule: CallIdRule, taken: ReadonlySet<string>): string {
  for (const id of [block.wireId, block.nativeId]) {
    if (id !== undefined && rule.legal.test(id) && !taken.has(id)) return id;
  }
  for (let salt = 0; ; salt += 1) {
    const id = hashedId(salt === 0 ? block.callId : `${block.callId}#${salt}`, rule);
    if (!taken.has(id)) return id;
  }
}

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

function hashedId(source: string, { prefix, length }: CallIdRule): string {
  let number = BigInt(`0x${createHash('sha256').update(source).digest('hex')}`);
  let digits = '';
  while (digits.length < length - prefix.length) {
    digits += BASE62.charAt(Number(number % 62n));
    number /= 62n;
  }
  return prefix + digits;
}
