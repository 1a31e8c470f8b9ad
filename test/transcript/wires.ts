import { toWire as toAnthropic } from '../../src/providers/anthropic/to-wire.ts';
import { toWire as toResponses } from '../../src/providers/openai-responses/to-wire.ts';
import type { Api, BuiltinToolEvent } from '../../src/transcript/items.ts';
import type { MessageRequest } from '../../src/transcript/message.ts';
import { check as checkAnthropic } from '../wire-laws/anthropic.ts';
import { check as checkResponses } from '../wire-laws/openai-responses.ts';
import { SCOPE } from './arbitraries.ts';

/** A wire format and the rules that a strict server of it goes by. */
export interface Wire {
  readonly name: string;
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

export const WIRES: readonly Wire[] = [
  {
    name: 'anthropic',
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
    toWire: (request) => toResponses(request, { scope: SCOPE, provider: 'openai' }).body,
    check: (body) => checkResponses(body),
    native: nativeOf('openai-responses', ({ nativeId }) => ({
      type: 'web_search_call',
      id: `ws_${nativeId}`,
      status: 'completed',
      action: { type: 'search', query: 'x' },
    })),
  },
];
