import type { Api, ReplayScope } from '../transcript/items.ts';
import type { JsonObject } from '../transcript/json.ts';
import type { MessageRequest } from '../transcript/message.ts';
import { classify } from './classify.ts';
import type { MediaLookup, Provider } from './provider.ts';
import { originalNames } from './rename-calls.ts';
import { StreamFailure } from './stream-failure.ts';
import { type NativeReader, vendorStream } from './vendor-stream.ts';

/** One vendor's own wire format at one endpoint: what {@link nativeProvider} makes a provider of. */
export interface NativeWire<Report extends { readonly body: unknown }> {
  readonly id: string;
  readonly api: Api;
  readonly endpoint: string;
  /** Fingerprint of the account, see {@link ReplayScope}. */
  readonly account: string;
  /** Keys that must not get into a message. */
  readonly secrets: readonly string[];
  /** Milliseconds without a byte after which an answer counts as stalled. */
  readonly idleTimeoutMs: number;
  readonly toWire: (request: MessageRequest, scope: ReplayScope, media: MediaLookup | undefined) => Report;
  /** Sends a body by the vendor's client and gives the answer unread. */
  readonly send: (body: Report['body'], signal: AbortSignal) => Promise<Response>;
  readonly reader: (body: Report['body']) => NativeReader;
  readonly eventsOfWhole: (body: JsonObject) => Iterable<JsonObject>;
  /** What the vendor's client throws, in our words; anything else comes back untouched: our own bugs stay bugs. */
  readonly translate: (error: unknown, signal: AbortSignal) => unknown;
}

/** A provider whose `report` also tells what a request does not carry. */
export interface NativeProvider<Report> extends Provider {
  report(request: MessageRequest, media?: MediaLookup): Report;
}

/** Makes a provider of a wire format whose answers are streams of native events up to a terminal one. */
export function nativeProvider<Report extends { readonly body: unknown }>(
  wire: NativeWire<Report>,
): NativeProvider<Report> {
  const { id, api, endpoint, account, secrets, idleTimeoutMs, eventsOfWhole } = wire;
  const scope = (model: string): ReplayScope => ({ endpoint, account, model });
  const report = (request: MessageRequest, media?: MediaLookup): Report =>
    wire.toWire(request, scope(request.model), media);
  return {
    id,
    api,
    scope,
    report,
    wire: (request, media) => report(request, media).body,
    async *stream(request, { signal, media }) {
      signal.throwIfAborted();
      const rename = originalNames(request.tools);
      let answer: Response | undefined;
      try {
        const { body } = report(request, media);
        answer = await wire.send(body, signal);
        for await (const event of vendorStream(answer, wire.reader(body), { signal, idleTimeoutMs, eventsOfWhole })) {
          yield rename(event);
        }
      } catch (error) {
        if (signal.aborted) throw signal.reason;
        if (error instanceof StreamFailure) {
          throw classify({ body: error.body, headers: answer?.headers, nowMs: Date.now(), secrets });
        }
        throw wire.translate(error, signal);
      }
    },
  };
}
