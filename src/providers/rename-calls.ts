import type { ToolSpec } from '../transcript/message.ts';
import type { StreamEvent } from '../transcript/stream-event.ts';
import { wireName } from '../transcript/wire-name.ts';

/** Turns the names under which tools went out back into their own, in the events that come in. A name that was not sent stays. */
export function originalNames(tools: readonly ToolSpec[]): (event: StreamEvent) => StreamEvent {
  const renamed = new Map(
    tools.filter((tool) => wireName(tool.name) !== tool.name).map((tool) => [wireName(tool.name), tool.name]),
  );
  if (renamed.size === 0) return (event) => event;
  return (event) => {
    if (event.type !== 'tool_call_delta' || event.name === undefined) return event;
    return { ...event, name: renamed.get(event.name) ?? event.name };
  };
}
