import type { Remedy } from '../../../src/providers/errors.ts';
import { isObj } from './case-file.ts';
import type { Check, CheckTable } from './check.ts';
import { differs, show } from './compare.ts';
import type { Observation, SeenError } from './observation.ts';

/** The cases' words for what helps. */
const REMEDIES: Readonly<Record<string, Remedy>> = {
  lower_max_tokens_first: 'lower_output',
  drop_oldest_images: 'drop_media',
  compact: 'compact',
};

/** First wait of the workflow's retry policy for model calls, in milliseconds, when the vendor asked for none. */
const DEFAULT_BACKOFF_MS = 1000;

const number =
  (key: 'limit' | 'requested' | 'input' | 'output'): Check =>
  (want, seen) =>
    differs(want, failure(seen)?.[key]);

function failure(seen: Observation): SeenError | undefined {
  return seen.error ?? undefined;
}

/** Keys about a failed call. */
export const ERROR_CHECKS: CheckTable = {
  error: (want, seen) => {
    if (!isObj(want)) return 'must be an object';
    const error = failure(seen);
    if (error === undefined)
      return `expected ${show(want)}, but the call succeeded: ${show({ finish: seen.finish, text: seen.text })}`;
    const wrong = Object.entries(want).filter(([key, value]) => value !== error[key as keyof SeenError]);
    return wrong.length === 0 ? undefined : `expected ${show(want)}, seen ${show(error)}`;
  },
  /** A content filter may be an error class or a finish word: both end the call and neither is sent again. */
  outcome: (want, seen) => differs(want, failure(seen)?.class ?? seen.finish),
  retryable: (want, seen) => differs(want, failure(seen)?.retryable ?? false),
  retryAfterMs: (want, seen) => differs(want, failure(seen)?.retryAfterMs),
  retry_after_ms_between: (want, seen) => {
    const [low, high] = Array.isArray(want) ? want.map(Number) : [];
    const wait = failure(seen)?.retryAfterMs ?? Number.NaN;
    return wait >= Number(low) && wait <= Number(high) ? undefined : `expected ${show(want)}, seen ${wait}`;
  },
  backoff_ms_greater_than: (want, seen) => {
    const error = failure(seen);
    if (error === undefined) return 'the call succeeded';
    const wait = error.retryAfterMs ?? DEFAULT_BACKOFF_MS;
    return wait > Number(want) ? undefined : `expected more than ${show(want)} ms, seen ${wait}`;
  },
  remedy: (want, seen) => differs(REMEDIES[String(want)] ?? want, failure(seen)?.remedy),
  limit: number('limit'),
  requested: number('requested'),
  input: number('input'),
  output: number('output'),
  limit_bytes: number('limit'),
};
