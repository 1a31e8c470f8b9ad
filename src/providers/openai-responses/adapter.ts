import type OpenAI from 'openai';
import type { JsonObject } from '../../transcript/json.ts';
import type { MessageRequest } from '../../transcript/message.ts';
import { classify } from '../classify.ts';
import { accountOf, endpointOf } from '../endpoint.ts';
import { keepErrorBodies, translateOpenAI } from '../openai-client.ts';
import type { MediaLookup, Provider } from '../provider.ts';
import { originalNames } from '../rename-calls.ts';
import { StreamFailure } from '../stream-failure.ts';
import { vendorStream } from '../vendor-stream.ts';
import { createWireReader, eventsOfResponse } from './from-wire.ts';
import type { ResponsesOptions } from './options.ts';
import { type ResponsesWire, toWire } from './to-wire.ts';

export interface ResponsesProviderOptions extends ResponsesOptions {
  /** Default `openai`. */
  readonly id?: string;
  /** Build it with `maxRetries: 0`: Temporal owns retries. */
  readonly client: OpenAI;
  /** Fingerprint of the account for replay scopes; default: from the client's key. */
  readonly account?: string;
  /** Default 300,000 ms without a byte is a stall: while it reasons, this server is silent. */
  readonly idleTimeoutMs?: number;
}

const IDLE_TIMEOUT_MS = 300_000;

/** A provider of the Responses API; `report` also tells what a request does not carry. */
export interface ResponsesProvider extends Provider {
  report(request: MessageRequest, media?: MediaLookup): ResponsesWire;
}

/** Adapts the Responses API of OpenAI, or of a server that speaks it. */
export function createResponsesProvider(options: ResponsesProviderOptions): ResponsesProvider {
  const { id = 'openai', idleTimeoutMs = IDLE_TIMEOUT_MS } = options;
  const client = keepErrorBodies(options.client);
  const endpoint = endpointOf(client.baseURL);
  const account = options.account ?? accountOf(client.apiKey);
  const secrets = client.apiKey ? [client.apiKey] : [];
  const scope = (model: string): ReturnType<Provider['scope']> => ({ endpoint, account, model });
  const report = (request: MessageRequest, media?: MediaLookup): ResponsesWire =>
    toWire(request, { scope: scope(request.model), provider: id, media, options });
  return {
    id,
    api: 'openai-responses',
    scope,
    report,
    wire: (request, media) => report(request, media).body,
    async *stream(request, { signal, media }) {
      signal.throwIfAborted();
      const rename = originalNames(request.tools);
      let answer: Response | undefined;
      try {
        const { body } = report(request, media);
        answer = await client.responses.create(body, { signal, maxRetries: 0 }).asResponse();
        const eventsOfWhole = (response: JsonObject): Iterable<JsonObject> => eventsOfResponse(response);
        const reader = createWireReader(body.max_output_tokens ?? undefined);
        for await (const event of vendorStream(answer, reader, { signal, idleTimeoutMs, eventsOfWhole })) {
          yield rename(event);
        }
      } catch (error) {
        if (signal.aborted) throw signal.reason;
        if (error instanceof StreamFailure) {
          throw classify({ body: error.body, headers: answer?.headers, nowMs: Date.now(), secrets });
        }
        throw translateOpenAI(error, { signal, secrets });
      }
    },
  };
}
