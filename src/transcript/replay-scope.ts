import { assertNever } from './assert-never.ts';
import type { AgentItem, Replay, ReplayScope } from './items.ts';
import { isJsonObject } from './json.ts';

/** Whether replay data may go to `target`: same endpoint, account and model. */
export function inScope(replay: Replay, target: ReplayScope): boolean {
  const { endpoint, account, model } = replay.scope;
  return endpoint === target.endpoint && account === target.account && model === target.model;
}

/** Whether replay data says where it may go. Data from disk or an import may not. */
export function isScoped(replay: Replay): boolean {
  const scope: unknown = replay.scope;
  if (!isJsonObject(scope)) return false;
  const { endpoint, account, model } = scope;
  return [endpoint, account, model].every((part) => typeof part === 'string');
}

/** Replay data and its place: `null` for the item's own, else the ordinal of the block or call. */
export interface PlacedReplay {
  readonly place: number | null;
  readonly replay: Replay;
}

const NONE: readonly PlacedReplay[] = [];

/** All replay data that an item holds. */
export function replaysOf(item: AgentItem): readonly PlacedReplay[] {
  switch (item.kind) {
    case 'reasoning_summary':
    case 'builtin_tool_event':
      return item.replay === undefined ? NONE : [{ place: null, replay: item.replay }];
    case 'assistant_message':
      return placed(item.content);
    case 'tool_call_batch':
      return placed(item.calls);
    case 'user_message':
    case 'tool_result_batch':
    case 'compaction_summary':
      return NONE;
    default:
      return assertNever(item, 'item kind');
  }
}

function placed(parts: readonly { readonly replay?: Replay }[]): readonly PlacedReplay[] {
  let found: PlacedReplay[] | undefined;
  for (let place = 0; place < parts.length; place += 1) {
    const replay = parts[place]?.replay;
    if (replay === undefined) continue;
    found ??= [];
    found.push({ place, replay });
  }
  return found ?? NONE;
}
