import Anthropic from '@anthropic-ai/sdk';
import { classify } from '../classify.ts';
import { accountOf, endpointOf } from '../endpoint.ts';
import { ProviderError } from '../errors.ts';
import { type NativeProvider, nativeProvider } from '../native-provider.ts';
import { unanswered } from '../unanswered.ts';
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

/** Adapts the Messages API of Anthropic, or of a server that speaks it. */
export function createAnthropicProvider(options: AnthropicProviderOptions): NativeProvider<AnthropicWire> {
  const { client } = options;
  const secrets = [client.apiKey, client.authToken].flatMap((secret) => (secret ? [secret] : []));
  const headers = options.betas === undefined ? {} : { headers: { 'anthropic-beta': options.betas.join(',') } };
  return nativeProvider({
    id: options.id ?? 'anthropic',
    api: 'anthropic',
    endpoint: endpointOf(client.baseURL),
    account: options.account ?? accountOf(client.apiKey ?? client.authToken),
    secrets,
    idleTimeoutMs: options.idleTimeoutMs ?? IDLE_TIMEOUT_MS,
    toWire: (request, scope, media) => toWire(request, { scope, media, options }),
    send: (body, signal) => client.messages.create(body, { signal, maxRetries: 0, ...headers }).asResponse(),
    reader: createWireReader,
    eventsOfWhole: eventsOfMessage,
    translate: (error) => translate(error, secrets),
  });
}

function translate(error: unknown, secrets: readonly string[]): unknown {
  if (!(error instanceof Anthropic.APIError)) return error;
  if (error instanceof Anthropic.APIConnectionTimeoutError)
    return new ProviderError('timeout', 'The request timed out.');
  if (error.status === undefined) return unanswered(error);
  // What is no JSON stands in the message, after the status.
  const body: unknown = error.error ?? error.message.replace(/^\d{3} /, '').replace('status code (no body)', '');
  return classify({ status: error.status, headers: error.headers, body, nowMs: Date.now(), secrets });
}
