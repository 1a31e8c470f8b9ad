import { ApplicationFailure } from '@temporalio/activity';
import { HoldfastError, type HoldfastErrorCode } from '../contract/errors.ts';
import { ProviderError } from '../providers/errors.ts';
import { StoreError, type StoreErrorCode } from '../store/errors.ts';

/** The store's words are a subset of the contract's: does not compile otherwise. */
const STORE_CODE: Readonly<Record<StoreErrorCode, HoldfastErrorCode>> = {
  Fenced: 'Fenced',
  StoreBehind: 'StoreBehind',
  StoreMismatch: 'StoreMismatch',
  StoreTooNew: 'StoreTooNew',
  StoreUnavailable: 'StoreUnavailable',
  NotFound: 'NotFound',
  InvalidInput: 'InvalidInput',
  Internal: 'Internal',
};

/** The one place where our errors become Temporal failures; `type` is what workflows match on. Anything else passes untouched. */
export function toApplicationFailure(error: unknown): unknown {
  if (error instanceof ProviderError) return providerFailure(error);
  if (error instanceof StoreError) {
    return ApplicationFailure.create({
      type: STORE_CODE[error.code],
      message: error.message,
      nonRetryable: !error.retryable,
      cause: error,
    });
  }
  if (error instanceof HoldfastError) {
    return ApplicationFailure.create({ type: error.code, message: error.message, nonRetryable: true, cause: error });
  }
  return error;
}

/** Longest wait that a vendor may ask of one attempt; a model call has an hour in all. */
const MAX_WAIT_MS = 15 * 60_000;
/** A wish for no wait at all (a date in the past) must not become a busy loop. */
const MIN_WAIT_MS = 250;

function providerFailure(error: ProviderError): ApplicationFailure {
  const waits = error.retryAfterMs;
  return ApplicationFailure.create({
    type: `provider/${error.code}`,
    message: error.message,
    nonRetryable: !error.retryable || (waits !== undefined && waits > MAX_WAIT_MS),
    cause: error,
    ...(waits === undefined ? {} : { nextRetryDelay: Math.max(waits, MIN_WAIT_MS) }),
  });
}

/** Rejections of `work` in Temporal's words. */
export async function translated<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw toApplicationFailure(error);
  }
}
