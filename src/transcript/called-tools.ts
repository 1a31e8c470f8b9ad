import type { AgentItem } from './items.ts';

/** Names of the tools that were called, by call id. */
export function calledTools(items: readonly AgentItem[]): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const item of items) {
    if (item.kind === 'tool_call_batch') for (const { callId, name } of item.calls) names.set(callId, name);
  }
  return names;
}
