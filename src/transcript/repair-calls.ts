import type { AgentItem, ToolCall } from './items.ts';
import { isJsonObject } from './json.ts';
import type { Repair } from './repair.ts';

/** Calls of all batches of a transcript, repaired, by index of their item. Unchanged calls are the same objects. */
export interface RepairedCalls {
  readonly byItem: ReadonlyMap<number, readonly ToolCall[]>;
  readonly repairs: readonly Repair[];
}

/** Makes call ids unique in order of appearance and arguments objects. A new id depends only on what came before it. */
export function repairCalls(items: readonly AgentItem[]): RepairedCalls {
  const mint = minter();
  const byItem = new Map<number, readonly ToolCall[]>();
  const repairs: Repair[] = [];
  for (const [index, item] of items.entries()) {
    if (item.kind !== 'tool_call_batch') continue;
    const calls = item.calls.map((call, ordinal): ToolCall => {
      const callId = mint(call.callId);
      if (callId !== call.callId) {
        repairs.push({ code: 'call_id_changed', index, call: ordinal, from: call.callId, to: callId });
      }
      const named = callId === call.callId ? call : { ...call, callId };
      const raw: unknown = call.arguments;
      if (isJsonObject(raw)) return named;
      const replaced = {
        rawArguments: call.rawArguments ?? JSON.stringify(raw) ?? '',
        argumentsError: call.argumentsError ?? 'not a JSON object',
      };
      repairs.push({ code: 'arguments_replaced', index, call: ordinal, ...replaced });
      return { ...named, arguments: {}, ...replaced };
    });
    byItem.set(index, calls);
  }
  return { byItem, repairs };
}

/** Hands out each id once; a second use gets `~2`, `~3` … behind it. Amortised constant time. */
function minter(): (callId: string) => string {
  const used = new Set<string>();
  const counts = new Map<string, number>();
  return (callId) => {
    let minted = callId;
    for (let count = counts.get(callId) ?? 2; minted === '' || used.has(minted); count += 1) {
      minted = `${callId === '' ? 'call' : callId}~${count}`;
      counts.set(callId, count + 1);
    }
    used.add(minted);
    return minted;
  };
}
