import type { StopReason, Usage } from '../transcript/message.ts';
import { type OverflowNumbers, ProviderError } from './errors.ts';

/** What the caller knows of the request's size, in tokens. */
export interface RequestSize {
  readonly estimatedInputTokens: number;
  readonly window: number;
}

/** Share of the window from which on a `length` stop means that the input left no room. */
const FULL = 0.99;

/** An error whose answer fits an overflow too is one when our own estimate is above the window; else it comes back as it is. */
export function overflowByEstimate(error: ProviderError, size: RequestSize): ProviderError {
  if (!error.maybeOverflow || size.estimatedInputTokens <= size.window) return error;
  return new ProviderError('context_overflow', `${error.message} (the request is estimated to exceed the window)`, {
    numbers: { limit: size.window, requested: size.estimatedInputTokens },
    ...(error.status === undefined ? {} : { status: error.status }),
    ...(error.rawCode === undefined ? {} : { rawCode: error.rawCode }),
    cause: error,
  });
}

/**
 * An overflow that the server did not call one: an empty answer to a prompt above the window, or a `length` stop with the
 * window full of input. An answer with text that came in spite of an over-long prompt is no error: it is delivered, and
 * its usage makes the next request compact.
 */
export function silentOverflow(response: {
  readonly stopReason: StopReason;
  readonly usage: Usage | null;
  /** No text, no calls. */
  readonly empty: boolean;
  readonly window: number | undefined;
}): ProviderError | undefined {
  const { stopReason, usage, empty, window } = response;
  const numbers: OverflowNumbers = {
    ...(window === undefined ? {} : { limit: window }),
    ...(usage === null ? {} : { requested: usage.inputTokens }),
  };
  const overflow = (why: string): ProviderError =>
    new ProviderError('context_overflow', why, {
      numbers,
      ...(stopReason.raw === null ? {} : { rawCode: stopReason.raw }),
    });
  if (stopReason.unified === 'context_overflow')
    return overflow('The model stopped because its context window was full.');
  if (usage === null || window === undefined) return undefined;
  if (stopReason.unified === 'length' && usage.inputTokens >= FULL * window) {
    return overflow('The input filled the context window and left no room for an answer.');
  }
  return empty && usage.inputTokens > window
    ? overflow('The answer is empty, and the input exceeds the context window.')
    : undefined;
}

/** Whether the server seems to have cut the input silently: it reports half of our estimate or less. Zero usage is unknown, not small. */
export function inputTruncatedByServer(tokens: { readonly estimated: number; readonly reported: number }): boolean {
  return tokens.reported > 0 && tokens.reported * 2 <= tokens.estimated;
}
