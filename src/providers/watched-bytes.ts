import { ProviderError } from './errors.ts';

export interface WatchOptions {
  readonly signal: AbortSignal;
  /** Milliseconds without a byte after which the response counts as stalled. A function, because it may shrink near the end. */
  readonly idleMs: () => number;
}

/**
 * The bytes of a body. Rejects with `ProviderError('timeout')` when no byte came for `idleMs` (comments count as bytes),
 * with `ProviderError('incomplete_stream')` when the connection broke, with the signal's reason once aborted.
 */
export async function* watchedBytes(
  body: ReadableStream<Uint8Array>,
  { signal, idleMs }: WatchOptions,
): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = body.getReader();
  let stalled = false;
  const onStall = (): void => {
    stalled = true;
    reader.cancel().catch(() => undefined);
  };
  let limitMs = idleMs();
  let timer = setTimeout(onStall, limitMs);
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (stalled) throw new ProviderError('timeout', `The response stalled: no byte for ${limitMs} ms.`);
      signal.throwIfAborted();
      if (done) return;
      yield value;
      if (idleMs() === limitMs) timer.refresh();
      else {
        clearTimeout(timer);
        limitMs = idleMs();
        timer = setTimeout(onStall, limitMs);
      }
    }
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (error instanceof ProviderError) throw error;
    throw new ProviderError('incomplete_stream', 'The connection broke while the response arrived.', { cause: error });
  } finally {
    clearTimeout(timer);
    reader.cancel().catch(() => undefined);
  }
}
