import type { ReplayScope, TranscriptEntry } from '../transcript/items.ts';
import type { MessageRequest } from '../transcript/message.ts';
import { normalize } from '../transcript/normalize.ts';
import { toMessages } from '../transcript/to-messages.ts';
import { withSystemPrompt } from '../transcript/with-system-prompt.ts';
import type { LoadedRunConfig } from './run-config.ts';

/** A request and what had to be mended to make it well-formed (nothing, unless an old release or a person wrote the rows). */
export interface BuiltRequest {
  readonly request: MessageRequest;
  readonly repairs: ReturnType<typeof normalize>['repairs'];
}

/** The one way from a run's frozen settings and a transcript to a request: the same input gives the same bytes. */
export function buildRequest(
  run: LoadedRunConfig,
  entries: readonly TranscriptEntry[],
  target: ReplayScope,
): BuiltRequest {
  const { items, repairs } = normalize(entries.map((entry) => entry.item));
  const { config } = run;
  const request: MessageRequest = {
    model: config.model.slice(config.model.indexOf('/') + 1),
    messages: withSystemPrompt(toMessages(items, { target }), run.prompt),
    tools: run.tools,
    ...(config.maxOutputTokens === null ? {} : { maxOutputTokens: config.maxOutputTokens }),
    ...(config.temperature === null ? {} : { temperature: config.temperature }),
    ...(config.thinking === null ? {} : { thinking: config.thinking }),
  };
  return { request, repairs };
}
