import { StoreError } from './errors.ts';

/** What an error of a database means for whoever uses the store. */
export interface Ruling {
  /** Completes "The store … ". */
  readonly says: string;
  readonly hint: string;
  readonly retryable: boolean;
}

/**
 * For an error that no table rules on: the database's tables are not those of this release (another program changed
 * them), or a statement of ours is wrong. Asking again changes neither.
 */
export function refusedStatement(error: Error): Ruling {
  return {
    says: `refused a statement (${error.message})`,
    hint: 'Use the release that wrote the store, or restore a backup; if neither helps, please report it.',
    retryable: false,
  };
}

/** The error of the store at `location`; `cause`: what a driver threw, if one did. */
export function unavailable(location: string, { says, hint, retryable }: Ruling, cause?: unknown): StoreError {
  return new StoreError('StoreUnavailable', `The store ${location} ${says}.`, hint, { cause, retryable });
}
