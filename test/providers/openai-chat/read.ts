import { type AccumulatedResponse, createAccumulator } from '../../../src/providers/accumulator.ts';
import { DIALECTS, type Dialect } from '../../../src/providers/openai-chat/dialects.ts';
import { createChatReader, type Ending } from '../../../src/providers/openai-chat/from-wire.ts';
import { toolNames } from '../../../src/providers/tool-names.ts';
import type { ToolCall } from '../../../src/transcript/items.ts';
import type { ToolSpec } from '../../../src/transcript/message.ts';
import type { StreamEvent } from '../../../src/transcript/stream-event.ts';
import { chunk, tool, WEATHER } from './fake-server.ts';

export const TOOLS: readonly ToolSpec[] = [
  WEATHER,
  tool('get_time'),
  tool('run_command', { command: { type: 'string' }, timeout: { type: 'number' } }),
];

export interface Reading extends AccumulatedResponse {
  readonly calls: readonly ToolCall[];
  readonly reasoning: string;
  readonly events: readonly StreamEvent[];
}

/** What chunks come to, read without a socket. */
export function readChunks(
  chunks: readonly unknown[],
  {
    tools = TOOLS,
    dialect = DIALECTS.generic,
    ending = 'done',
  }: { tools?: readonly ToolSpec[]; dialect?: Dialect; ending?: Ending } = {},
): Reading {
  const reader = createChatReader(dialect, toolNames(tools));
  let n = 0;
  const accumulator = createAccumulator({
    response: { provider: 'p', api: 'openai-chat', model: 'm' },
    scope: { endpoint: 'e', account: 'a', model: 'm' },
    mintCallId: () => `call${++n}`,
    mintResponseId: () => 'r',
  });
  const events = [...chunks.flatMap((one) => reader.push(one)), ...reader.end(ending)];
  for (const event of events) accumulator.add(event);
  const response = accumulator.finish();
  return {
    ...response,
    events,
    calls: response.items.flatMap((item) => (item.kind === 'tool_call_batch' ? item.calls : [])),
    reasoning: response.items.map((item) => (item.kind === 'reasoning_summary' ? item.text : '')).join(''),
  };
}

/** An answer that says this text, in these pieces. */
export function saying(...pieces: readonly string[]): readonly unknown[] {
  return [...pieces.map((content) => chunk({ content })), chunk({}, 'stop')];
}

export interface Fragment {
  readonly index?: number | null;
  readonly id?: string;
  readonly name?: string;
  readonly args?: unknown;
}

/** An answer of tool-call fragments: an inner list is one chunk. */
export function fragments(...groups: readonly (readonly Fragment[])[]): readonly unknown[] {
  const entry = ({ index, id, name, args }: Fragment): unknown => ({
    ...(index === undefined ? {} : { index }),
    ...(id === undefined ? {} : { id }),
    type: 'function',
    function: { ...(name === undefined ? {} : { name }), ...(args === undefined ? {} : { arguments: args }) },
  });
  return [...groups.map((group) => chunk({ tool_calls: group.map(entry) })), chunk({}, 'tool_calls')];
}
