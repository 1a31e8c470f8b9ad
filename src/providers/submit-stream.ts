import type { MessageRequest } from '../transcript/message.ts';
import type { StreamEvent } from '../transcript/stream-event.ts';
import type { MediaLookup } from './provider.ts';
import type { ProviderRegistry } from './registry.ts';
import { replayTolerant } from './without-replay.ts';

/** A request whose `model` is `provider/model`; absent: the registry's default. */
export type SubmitRequest = Omit<MessageRequest, 'model'> & { readonly model?: string };

export interface SubmitOptions {
  readonly signal?: AbortSignal;
  readonly media?: MediaLookup;
}

/**
 * One model call without Temporal: the events of the provider as they come, nothing stored, nothing retried (but
 * once, without replay data, when that is what the provider refuses).
 *
 * An explicit prompt is a `system` message of the request (see `withSystemPrompt`). Ends after `finished`.
 *
 * @throws ModelResolutionError at once for a model that nobody serves; the iteration rejects with ProviderError, or with the
 * signal's reason once aborted.
 */
export function submitStream(
  registry: ProviderRegistry,
  request: SubmitRequest,
  { signal = new AbortController().signal, media }: SubmitOptions = {},
): AsyncIterable<StreamEvent> {
  const { provider, model } = registry.resolve(request.model);
  return replayTolerant(provider, { ...request, model }, { signal, ...(media === undefined ? {} : { media }) });
}
