import OpenAI from 'openai';
import { classify } from './classify.ts';
import { ProviderError } from './errors.ts';
import { unanswered } from './unanswered.ts';

/** Key under which {@link keepErrorBodies} hands over the whole body of an error answer. */
const WHOLE_BODY = 'holdfast_body';

/**
 * The same client, but for one thing: the vendor's error class keeps only the `error` key of an error answer, and many
 * servers put what they say elsewhere. The body goes through whole, for {@link translateOpenAI} to read.
 */
export function keepErrorBodies(client: OpenAI): OpenAI {
  // A subclass (Azure's) cannot be made anew from what the base class remembers of its options.
  if (client.constructor !== OpenAI) return client;
  // Private only to the type checker; `withOptions` itself hands it on.
  const inner: unknown = Reflect.get(client, 'fetch');
  const send = typeof inner === 'function' ? (inner as typeof fetch) : fetch;
  return client.withOptions({
    maxRetries: 0,
    fetch: async (url, init) => {
      const response = await send.call(undefined, url as string, init as RequestInit);
      if (response.ok) return response;
      const { status, statusText, headers } = response;
      const kept = { error: { message: 'see body', [WHOLE_BODY]: await response.text() } };
      return new Response(JSON.stringify(kept), { status, statusText, headers: plain(headers) });
    },
  });
}

/** The headers of a body that was decoded and written anew. */
function plain(headers: Headers): Headers {
  const copy = new Headers(headers);
  for (const name of ['content-encoding', 'content-length', 'transfer-encoding']) copy.delete(name);
  return copy;
}

export interface TranslateOptions {
  readonly signal: AbortSignal;
  readonly secrets: readonly string[];
}

/**
 * Puts what the `openai` client throws into our words: the signal's reason once aborted, a {@link ProviderError} for what
 * the vendor or the network did. Anything else comes back untouched: our own bugs stay bugs.
 */
export function translateOpenAI(error: unknown, { signal, secrets }: TranslateOptions): unknown {
  if (signal.aborted) return signal.reason;
  if (!(error instanceof OpenAI.APIError)) return error;
  if (error instanceof OpenAI.APIConnectionTimeoutError) return new ProviderError('timeout', 'The request timed out.');
  if (error.status === undefined) return unanswered(error);
  // No cause: the vendor's error repeats its text, which may hold a key.
  return classify({
    status: error.status,
    headers: error.headers,
    body: wholeBody(error.error),
    nowMs: Date.now(),
    secrets,
  });
}

function wholeBody(error: unknown): unknown {
  if (typeof error !== 'object' || error === null) return error;
  const whole: unknown = Reflect.get(error, WHOLE_BODY);
  return whole ?? { error };
}
