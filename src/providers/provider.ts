import type { Api, MediaRef, ReplayScope } from '../transcript/items.ts';
import type { MessageRequest } from '../transcript/message.ts';
import type { StreamEvent } from '../transcript/stream-event.ts';

/** Bytes of media by hash, loaded before the request is built; `toWire` stays pure. Base64, or `undefined` when they are gone. */
export type MediaLookup = (media: MediaRef) => string | undefined;

export interface StreamOptions {
  readonly signal: AbortSignal;
  /** Absent when the request refers to no media. */
  readonly media?: MediaLookup;
}

/**
 * One wire format at one endpoint.
 *
 * Adapters do not retry (Temporal does), do not log (the activity does) and read no environment. `stream` rejects with a
 * {@link ProviderError} for everything the vendor said or broke, and with `signal.reason` once aborted; bugs of ours
 * pass through untouched. Ending without a `finished` event is a `ProviderError('incomplete_stream')`.
 */
export interface Provider {
  /** Id in the registry: the prefix of `provider/model`. */
  readonly id: string;
  readonly api: Api;
  /** All models that it serves, where that list is closed. Absent: any name may exist, the endpoint decides. */
  readonly models?: readonly string[];
  /** Where replay data of this provider may go back to. */
  scope(model: string): ReplayScope;
  stream(request: MessageRequest, options: StreamOptions): AsyncIterable<StreamEvent>;
  /** The request body exactly as it would go out: for `show --request` and for tests. */
  wire(request: MessageRequest, media?: MediaLookup): unknown;
}
