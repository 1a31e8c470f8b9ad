import type OpenAI from 'openai';
import { accountOf, endpointOf } from '../endpoint.ts';
import { type NativeProvider, nativeProvider } from '../native-provider.ts';
import { keepErrorBodies, translateOpenAI } from '../openai-client.ts';
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

/** Adapts the Responses API of OpenAI, or of a server that speaks it. */
export function createResponsesProvider(options: ResponsesProviderOptions): NativeProvider<ResponsesWire> {
  const { id = 'openai' } = options;
  const client = keepErrorBodies(options.client);
  const secrets = client.apiKey ? [client.apiKey] : [];
  return nativeProvider({
    id,
    api: 'openai-responses',
    endpoint: endpointOf(client.baseURL),
    account: options.account ?? accountOf(client.apiKey),
    secrets,
    idleTimeoutMs: options.idleTimeoutMs ?? IDLE_TIMEOUT_MS,
    toWire: (request, scope, media) => toWire(request, { scope, provider: id, media, options }),
    send: (body, signal) => client.responses.create(body, { signal, maxRetries: 0 }).asResponse(),
    reader: (body) => createWireReader(body.max_output_tokens ?? undefined),
    eventsOfWhole: eventsOfResponse,
    translate: (error, signal) => translateOpenAI(error, { signal, secrets }),
  });
}
