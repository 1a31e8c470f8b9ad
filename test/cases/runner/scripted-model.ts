import type { Provider } from '../../../src/providers/provider.ts';
import type { MessageRequest } from '../../../src/transcript/message.ts';
import type { StreamEvent } from '../../../src/transcript/stream-event.ts';
import { type Obj, objs, str } from './case-file.ts';
import { rawArguments } from './notation-step.ts';

/** What the model says to one request. */
export interface ScriptedAnswer {
  readonly text?: string;
  readonly calls?: readonly Obj[];
}

/** A model that follows a script, and the requests it got. The last answer is given for ever. */
export interface ScriptedModel {
  readonly provider: Provider;
  readonly requests: readonly MessageRequest[];
}

export function scriptedModel(answers: readonly ScriptedAnswer[]): ScriptedModel {
  const requests: MessageRequest[] = [];
  const provider: Provider = {
    id: 'scripted',
    api: 'openai-chat',
    scope: (model) => ({ endpoint: 'scripted', account: 'test', model }),
    wire: (request) => request,
    async *stream(request, { signal }) {
      signal.throwIfAborted();
      const index = requests.push(request) - 1;
      yield* eventsOf(answers[index] ?? answers.at(-1) ?? {}, index);
    },
  };
  return { provider, requests };
}

function* eventsOf({ text, calls = [] }: ScriptedAnswer, index: number): Generator<StreamEvent> {
  yield { type: 'response_started', id: `answer-${index}`, model: 'scripted' };
  if (text !== undefined) yield { type: 'text_delta', part: 0, text };
  for (const [i, call] of objs(calls).entries()) {
    // The same id in every answer of a loop is what a real server sends too; ours are minted.
    yield {
      type: 'tool_call_delta',
      part: i + 1,
      nativeId: str(call.id),
      name: str(call.name),
      arguments: rawArguments(call),
    };
  }
  yield { type: 'usage', usage: { inputTokens: 10, outputTokens: 5 } };
  yield { type: 'finished', stopReason: { unified: calls.length > 0 ? 'tool_calls' : 'stop', raw: null } };
}
