import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import type { MessageRequest } from '../../transcript/message.ts';
import type { StreamEvent } from '../../transcript/stream-event.ts';
import { ProviderError } from '../errors.ts';
import type { Provider } from '../provider.ts';
import { type Move, nextMove } from './plan.ts';

export const OFFLINE_PROVIDER_ID = 'offline';
export const OFFLINE_MODEL = 'extractive';

/**
 * The model that needs no key: `offline/extractive` really uses the workspace tools of the request and quotes what they
 * find. The same request always gives the same response, its id included.
 *
 * Its "tokens" are four characters each, so that usage and activity lines have something true to show.
 */
export function createOfflineProvider(): Provider {
  return {
    id: OFFLINE_PROVIDER_ID,
    api: 'offline',
    models: [OFFLINE_MODEL],
    scope: (model) => ({ endpoint: 'offline', account: 'offline', model }),
    wire: (request) => request,
    async *stream(request, { signal }) {
      if (request.model !== OFFLINE_MODEL) {
        throw new ProviderError('not_found', `offline has no model "${request.model}", only "${OFFLINE_MODEL}"`);
      }
      for (const event of responseTo(request)) {
        signal.throwIfAborted();
        yield event;
        // Lets a cancel in, and gives readers deltas instead of one lump.
        await setImmediate();
      }
      signal.throwIfAborted();
    },
  };
}

function* responseTo(request: MessageRequest): Generator<StreamEvent> {
  const asked = JSON.stringify(request.messages);
  const id = createHash('sha256').update(asked).digest('hex').slice(0, 24);
  const move = nextMove(request);
  yield { type: 'response_started', id: `offline_${id}`, model: OFFLINE_MODEL };
  const text = move.kind === 'look' ? move.say : move.text;
  for (const delta of deltasOf(text)) yield { type: 'text_delta', part: 0, text: delta };
  yield { type: 'part_done', part: 0 };
  yield* callsOf(move, id);
  const outputTokens = tokens(move.kind === 'look' ? text + JSON.stringify(move.calls) : text);
  // Tools are read too: a model that reported less than half of what it was sent would look as if its server cut the rest.
  const inputTokens = tokens(asked) + tokens(JSON.stringify(request.tools));
  yield { type: 'usage', usage: { inputTokens, outputTokens } };
  yield { type: 'finished', stopReason: { unified: move.kind === 'look' ? 'tool_calls' : 'stop', raw: move.kind } };
}

function* callsOf(move: Move, id: string): Generator<StreamEvent> {
  if (move.kind !== 'look') return;
  for (const [index, call] of move.calls.entries()) {
    const part = index + 1;
    const nativeId = `call_${id.slice(0, 12)}_${index}`;
    yield { type: 'tool_call_delta', part, nativeId, name: call.name, arguments: JSON.stringify(call.input) };
    yield { type: 'part_done', part };
  }
}

/** Small pieces, so that a reader sees the text grow; joined they are the text, and none cuts a character in two. */
function deltasOf(text: string): readonly string[] {
  return text.match(/.{1,24}/gsu) ?? [];
}

function tokens(text: string): number {
  return Math.ceil(text.length / 4);
}
