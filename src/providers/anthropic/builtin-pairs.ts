import type { ReplayScope } from '../../transcript/items.ts';
import type { Message } from '../../transcript/message.ts';
import { isNativeBuiltin } from './content.ts';

/**
 * Ids of the server tool calls that may go back: those with a result in their own turn of the assistant or in its next one
 * (a server may answer its own call after ours), and those still open at the end, which the server continues
 * (`pause_turn`). Anything else is half a pair.
 */
export function pairedBuiltins(messages: readonly Message[], scope: ReplayScope): ReadonlySet<string> {
  const paired = new Set<string>();
  let carried = new Set<string>();
  let open = new Set<string>();
  let speaking = false;
  for (const message of messages) {
    // A user's message ends the turn: what is open then stays without a result.
    if (message.role === 'user') open = new Set();
    if (message.role !== 'assistant') {
      speaking &&= message.role === 'system';
      continue;
    }
    if (!speaking) {
      carried = open;
      open = new Set();
      speaking = true;
    }
    for (const block of message.content) {
      if (block.type !== 'builtin_tool' || !isNativeBuiltin(block, message, scope)) continue;
      if (block.phase === 'call') open.add(block.nativeId);
      else if (open.delete(block.nativeId) || carried.delete(block.nativeId)) paired.add(block.nativeId);
    }
  }
  return new Set([...paired, ...open]);
}
