import type { AgentItem, ResponseRef } from './items.ts';

/** The response that an item is part of; `undefined` for what no model wrote. */
export function responseOf(item: AgentItem): ResponseRef | undefined {
  return 'response' in item ? item.response : undefined;
}

/** End (exclusive) of the run of neighbours that belong to the same response as `items[start]`; `start + 1` outside of a response. */
export function runEnd(items: readonly AgentItem[], start: number): number {
  const id = at(items, start)?.id;
  let end = start + 1;
  if (id === undefined) return end;
  while (end < items.length && at(items, end)?.id === id) end += 1;
  return end;
}

function at(items: readonly AgentItem[], index: number): ResponseRef | undefined {
  const item = items[index];
  return item === undefined ? undefined : responseOf(item);
}
