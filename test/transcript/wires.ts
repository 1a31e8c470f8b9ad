import { toWire as toAnthropic } from '../../src/providers/anthropic/to-wire.ts';
import { DIALECTS, type DialectName } from '../../src/providers/openai-chat/dialects.ts';
import { toWire as toChat } from '../../src/providers/openai-chat/to-wire.ts';
import { toWire as toResponses } from '../../src/providers/openai-responses/to-wire.ts';
import type { Api, BuiltinToolEvent } from '../../src/transcript/items.ts';
import type { MessageRequest } from '../../src/transcript/message.ts';
import { check as checkAnthropic } from '../wire-laws/anthropic.ts';
import { DIALECT_LAWS } from '../wire-laws/dialects.ts';
import { check as checkChat } from '../wire-laws/openai-chat.ts';
import { check as checkResponses } from '../wire-laws/openai-responses.ts';
import { LENGTH } from './all-lists.ts';
import { SCOPE } from './arbitraries.ts';

/** A wire format and the rules that a strict server of it goes by. */
export interface Wire {
  readonly name: string;
  /** Lists of up to that many items are checked: all of them for a format, one fewer for what is a dialect of it. */
  readonly length: number;
  readonly toWire: (request: MessageRequest) => unknown;
  /** What a strict server would say; empty when it takes the body. */
  readonly check: (body: unknown) => readonly string[];
  /** A builtin event as this format has it; elsewhere it is a foreign one. */
  readonly native: (event: BuiltinToolEvent) => BuiltinToolEvent;
}

function nativeOf(
  api: Api,
  payload: (event: BuiltinToolEvent) => BuiltinToolEvent['payload'],
): (event: BuiltinToolEvent) => BuiltinToolEvent {
  return (event) => ({
    ...event,
    response: { ...event.response, api },
    payload: payload(event),
    replay: { scope: SCOPE, data: { native: true } },
  });
}

function chat(name: DialectName): Wire {
  return {
    name: `openai-chat, ${name}`,
    length: name === 'openai' ? LENGTH : LENGTH - 1,
    toWire: (request) => toChat(request, { scope: SCOPE, dialect: DIALECTS[name] }).body,
    check: (body) => checkChat(body, DIALECT_LAWS[name]),
    // This format has no builtin tools: they are foreign wherever they come from.
    native: (event) => event,
  };
}

export const WIRES: readonly Wire[] = [
  {
    name: 'anthropic',
    length: LENGTH,
    toWire: (request) => toAnthropic(request, { scope: SCOPE }).body,
    check: (body) => checkAnthropic(body),
    native: nativeOf('anthropic', ({ phase, nativeId, name }) =>
      phase === 'call'
        ? { type: 'server_tool_use', id: nativeId, name, input: { query: 'x' } }
        : { type: 'web_search_tool_result', tool_use_id: nativeId, content: [] },
    ),
  },
  {
    name: 'openai-responses',
    length: LENGTH,
    toWire: (request) => toResponses(request, { scope: SCOPE, provider: 'openai' }).body,
    check: (body) => checkResponses(body),
    native: nativeOf('openai-responses', ({ nativeId }) => ({
      type: 'web_search_call',
      id: `ws_${nativeId}`,
      status: 'completed',
      action: { type: 'search', query: 'x' },
    })),
  },
  ...(Object.keys(DIALECTS) as DialectName[]).map(chat),
];
