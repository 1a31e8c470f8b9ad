/**
 * Why the store refused.
 *
 * `Fenced`: the writer is no longer the owner, or a later attempt of the same activity has begun. `StoreBehind`: the
 * store's last seq is lower than what the workflow knows (restored from a backup under an open run). `StoreMismatch`:
 * the store belongs to another namespace, or the run to another store. `StoreTooNew`: a later release wrote it.
 * `StoreUnavailable`: it cannot be opened, read or written (permission, full disk, corrupt, locked, tables of another shape).
 * `NotFound`: the session or run is not there. `InvalidInput`: a person asked for what cannot be done. `Internal`: the caller asked for what would break the transcript (a
 * second open batch, a call id used twice); nothing was written.
 */
export type StoreErrorCode =
  | 'Fenced'
  | 'StoreBehind'
  | 'StoreMismatch'
  | 'StoreTooNew'
  | 'StoreUnavailable'
  | 'NotFound'
  | 'InvalidInput'
  | 'Internal';

export class StoreError extends Error {
  override readonly name = 'StoreError';
  readonly code: StoreErrorCode;
  /** What to do about it, one sentence. */
  readonly hint: string;
  /** Whether the same call may succeed later without anybody's help (a full disk mends, a mismatch does not). */
  readonly retryable: boolean;

  constructor(
    code: StoreErrorCode,
    message: string,
    hint: string,
    options: { readonly cause?: unknown; readonly retryable?: boolean } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.hint = hint;
    this.retryable = options.retryable ?? code === 'StoreUnavailable';
  }
}
