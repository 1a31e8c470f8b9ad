import type OpenAI from 'openai';
import type { ReplayScope } from '../../transcript/items.ts';
import type { MessageRequest } from '../../transcript/message.ts';
import type { StreamEvent } from '../../transcript/stream-event.ts';
import { ProviderError } from '../errors.ts';
import { DONE } from '../json-frames.ts';
import { keepErrorBodies, translateOpenAI } from '../openai-client.ts';
import type { MediaLookup, Provider, StreamOptions } from '../provider.ts';
import { StreamFailure } from '../stream-failure.ts';
import { toolNames } from '../tool-names.ts';
import { watchedBytes } from '../watched-bytes.ts';
import { bodyParts, classifyFailure } from './body.ts';
import { DIALECTS, type Dialect, type DialectName } from './dialects.ts';
import { type ChatReader, createChatReader, type Ending } from './from-wire.ts';
import { type ChatBody, toWire } from './to-wire.ts';

export interface OpenAIChatOptions {
  /** Id in the registry. */
  readonly id: string;
  /** Built with `maxRetries: 0`: Temporal owns retries. */
  readonly client: OpenAI;
  readonly dialect: DialectName | Dialect;
  /** See {@link ReplayScope}. */
  readonly endpoint: string;
  readonly account: string;
  /** Milliseconds without a byte in the middle of an answer. Default 120,000. */
  readonly idleTimeoutMs?: number;
  /** Milliseconds to the first byte of an answer; long prompts take local servers minutes. Default 300,000. */
  readonly firstByteTimeoutMs?: number;
  /** Whether a model takes images. Default: what the dialect says. */
  readonly takesImages?: (model: string) => boolean;
}

/** After the finish reason nothing but usage is missing: not worth a long wait. */
const USAGE_WAIT_MS = 5_000;

/** Adapts servers that speak OpenAI's Chat Completions. */
export function openaiChat(options: OpenAIChatOptions): Provider {
  const client = keepErrorBodies(options.client);
  const dialect = typeof options.dialect === 'string' ? DIALECTS[options.dialect] : options.dialect;
  const secrets = options.client.apiKey === null ? [] : [options.client.apiKey];
  const scope = (model: string): ReplayScope => ({ endpoint: options.endpoint, account: options.account, model });
  const wire = (request: MessageRequest, media?: MediaLookup): ChatBody =>
    toWire(request, { scope: scope(request.model), dialect, media, takesImages: options.takesImages }).body;

  return {
    id: options.id,
    api: 'openai-chat',
    scope,
    wire,
    async *stream(request, { signal, media }: StreamOptions) {
      signal.throwIfAborted();
      const body = wire(request, media);
      const reader = createChatReader(dialect, toolNames(request.tools));
      const ours = new AbortController();
      const both = AbortSignal.any([signal, ours.signal]);
      const firstByteMs = options.firstByteTimeoutMs ?? 300_000;
      const late = setTimeout(
        () => ours.abort(new ProviderError('timeout', `No answer within ${firstByteMs} ms.`)),
        firstByteMs,
      );
      try {
        const response = await client.chat.completions.create(body, { signal: both, maxRetries: 0 }).asResponse();
        clearTimeout(late);
        yield* readResponse(response, reader, { signal, idleTimeoutMs: options.idleTimeoutMs ?? 120_000, secrets });
      } catch (error) {
        throw translateOpenAI(error, { signal: both, secrets });
      } finally {
        clearTimeout(late);
        ours.abort();
      }
    },
  };
}

interface ReadOptions {
  readonly signal: AbortSignal;
  readonly idleTimeoutMs: number;
  readonly secrets: readonly string[];
}

/** The events of an answer. A finish reason makes it whole, even where the connection then breaks or stalls. */
async function* readResponse(
  response: Response,
  reader: ChatReader,
  { signal, idleTimeoutMs, secrets }: ReadOptions,
): AsyncGenerator<StreamEvent, void, undefined> {
  if (response.body === null) throw new ProviderError('incomplete_stream', 'The answer has no body.');
  const idleMs = (): number => (reader.finished ? Math.min(idleTimeoutMs, USAGE_WAIT_MS) : idleTimeoutMs);
  let whole = false;
  const end = (ending: Ending): readonly StreamEvent[] => {
    const events = reader.end(ending);
    whole = events.some((event) => event.type === 'finished');
    return events;
  };
  try {
    for await (const part of bodyParts(watchedBytes(response.body, { signal, idleMs }), response.headers)) {
      if ('ending' in part) yield* end(part.ending);
      else for (const chunk of part.chunks) if (chunk !== DONE) yield* reader.push(chunk);
    }
  } catch (error) {
    if (error instanceof StreamFailure) throw classifyFailure(error, response.headers, secrets);
    const broken = error instanceof ProviderError && (error.code === 'incomplete_stream' || error.code === 'timeout');
    if (!broken || !reader.finished || whole || signal.aborted) throw error;
    yield* end('closed');
  }
  if (!whole) throw new ProviderError('incomplete_stream', 'The answer ended without a finish reason.');
}
