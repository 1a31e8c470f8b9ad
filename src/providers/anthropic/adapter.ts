import Anthropic from '@anthropic-ai/sdk';
import type { JsonObject } from '../../transcript/json.ts';
import type { MessageRequest } from '../../transcript/message.ts';
import { classify } from '../classify.ts';
import { accountOf, endpointOf } from '../endpoint.ts';
import { ProviderError } from '../errors.ts';
import type { MediaLookup, Provider } from '../provider.ts';
import { originalNames } from '../rename-calls.ts';
import { StreamFailure } from '../stream-failure.ts';
import { vendorStream } from '../vendor-stream.ts';
import { createWireReader, eventsOfMessage } from './from-wire.ts';
import type { AnthropicOptions } from './options.ts';
import { type AnthropicWire, toWire } from './to-wire.ts';

export interface AnthropicProviderOptions extends AnthropicOptions {
  /** Default `anthropic`. */
  readonly id?: string;
  /** Build it with `maxRetries: 0`: Temporal owns retries. */
  readonly client: Anthropic;
  /** Fingerprint of the account for replay scopes; default: from the client's key. */
  readonly account?: string;
  /** The server sends pings; default 120,000 ms without a byte is a stall. */
  readonly idleTimeoutMs?: number;
}

const IDLE_TIMEOUT_MS = 120_000;

/** A provider of the Messages API; `report` also tells what a request does not carry. */
export interface AnthropicProvider extends Provider {
  report(request: MessageRequest, media?: MediaLookup): AnthropicWire;
}

/** Adapts the Messages API of Anthropic, or of a server that speaks it. */
export function createAnthropicProvider(options: AnthropicProviderOptions): AnthropicProvider {
  const { client, id = 'anthropic', idleTimeoutMs = IDLE_TIMEOUT_MS } = options;
  const endpoint = endpointOf(client.baseURL);
  const account = options.account ?? accountOf(client.apiKey ?? client.authToken);
  const secrets = [client.apiKey, client.authToken].flatMap((secret) => (secret ? [secret] : []));
  const scope = (model: string): ReturnType<Provider['scope']> => ({ endpoint, account, model });
  const report = (request: MessageRequest, media?: MediaLookup): AnthropicWire =>
    toWire(request, { scope: scope(request.model), media, options });
  const headers = options.betas === undefined ? {} : { headers: { 'anthropic-beta': options.betas.join(',') } };
  return {
    id,
    api: 'anthropic',
    scope,
    report,
    wire: (request, media) => report(request, media).body,
    async *stream(request, { signal, media }) {
      signal.throwIfAborted();
      const rename = originalNames(request.tools);
      let answer: Response | undefined;
      try {
        const { body } = report(request, media);
        answer = await client.messages.create(body, { signal, maxRetries: 0, ...headers }).asResponse();
        const eventsOfWhole = (message: JsonObject): Iterable<JsonObject> => eventsOfMessage(message);
        for await (const event of vendorStream(answer, createWireReader(), { signal, idleTimeoutMs, eventsOfWhole })) {
          yield rename(event);
        }
      } catch (error) {
        throw signal.aborted ? signal.reason : translate(error, answer?.headers, secrets);
      }
    },
  };
}

/** Puts what the vendor said or the network did into our words; anything else comes back untouched: our own bugs stay bugs. */
function translate(error: unknown, headers: Headers | undefined, secrets: readonly string[]): unknown {
  const nowMs = Date.now();
  if (error instanceof StreamFailure) return classify({ body: error.body, headers, nowMs, secrets });
  if (!(error instanceof Anthropic.APIError)) return error;
  if (error instanceof Anthropic.APIConnectionTimeoutError)
    return new ProviderError('timeout', 'The request timed out.');
  if (error.status === undefined) {
    return new ProviderError('network', `No answer: ${networkReason(error)}`, { cause: error.cause ?? error });
  }
  // What is no JSON stands in the message, after the status.
  const body: unknown = error.error ?? error.message.replace(/^\d{3} /, '').replace('status code (no body)', '');
  return classify({ status: error.status, headers: error.headers, body, nowMs, secrets });
}

/** `ECONNREFUSED`, `ENOTFOUND` and the like stand deep in the causes of a failed fetch. */
function networkReason(error: Error): string {
  let at: unknown = error;
  let reason = error.message;
  for (let depth = 0; at instanceof Error && depth < 5; depth += 1) {
    const code: unknown = Reflect.get(at, 'code');
    if (typeof code === 'string') return code;
    reason = at.message;
    at = at.cause;
  }
  return reason;
}
