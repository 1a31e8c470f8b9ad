/** What went wrong at a provider: one code per decision that a caller can take. */
export type ProviderErrorCode =
  | 'context_overflow'
  | 'request_too_large'
  | 'rate_limit'
  | 'quota'
  | 'overloaded'
  | 'server_error'
  | 'timeout'
  | 'network'
  | 'incomplete_stream'
  | 'protocol'
  | 'invalid_request'
  | 'not_found'
  | 'content_filter'
  | 'replay_rejected'
  | 'auth'
  | 'permission';

/** What helps. `none`: nothing that a program can do. */
export type Remedy = 'wait' | 'retry' | 'compact' | 'lower_output' | 'drop_media' | 'drop_replay' | 'fallback' | 'none';

/** The default ruling per code; an adapter may override `retryable` for one error. `retryable`: the same request may succeed later. */
export const PROVIDER_ERRORS: Readonly<
  Record<ProviderErrorCode, { readonly retryable: boolean; readonly remedy: Remedy }>
> = {
  context_overflow: { retryable: false, remedy: 'compact' },
  request_too_large: { retryable: false, remedy: 'drop_media' },
  rate_limit: { retryable: true, remedy: 'wait' },
  quota: { retryable: false, remedy: 'fallback' },
  overloaded: { retryable: true, remedy: 'wait' },
  server_error: { retryable: true, remedy: 'retry' },
  timeout: { retryable: true, remedy: 'retry' },
  network: { retryable: true, remedy: 'retry' },
  incomplete_stream: { retryable: true, remedy: 'retry' },
  protocol: { retryable: true, remedy: 'retry' },
  invalid_request: { retryable: false, remedy: 'none' },
  not_found: { retryable: false, remedy: 'fallback' },
  content_filter: { retryable: false, remedy: 'none' },
  replay_rejected: { retryable: false, remedy: 'drop_replay' },
  auth: { retryable: false, remedy: 'fallback' },
  permission: { retryable: false, remedy: 'fallback' },
};

/** Numbers that an overflow error names, in tokens (bytes for `request_too_large`). */
export interface OverflowNumbers {
  readonly limit?: number;
  /** Input plus output that was asked for. */
  readonly requested?: number;
  readonly input?: number;
  readonly output?: number;
}

export interface ProviderErrorOptions {
  readonly cause?: unknown;
  /** Milliseconds the vendor asked us to wait, when it said. */
  readonly retryAfterMs?: number;
  /** Overrides the table for this one error. */
  readonly retryable?: boolean;
  readonly remedy?: Remedy;
  readonly numbers?: OverflowNumbers;
  /** HTTP status, when there was an answer. */
  readonly status?: number;
  /** The vendor's own code or stop word, when it gave one. */
  readonly rawCode?: string;
  /** The answer would fit an overflow too (an empty 400, say): only the caller's estimate can tell, see `overflowByEstimate`. */
  readonly maybeOverflow?: boolean;
}

/** Everything a provider said or broke, in our words. Messages carry no secrets and at most 500 characters of the vendor's text. */
export class ProviderError extends Error {
  override readonly name = 'ProviderError';
  readonly code: ProviderErrorCode;
  readonly retryAfterMs: number | undefined;
  readonly retryable: boolean;
  readonly remedy: Remedy;
  readonly numbers: OverflowNumbers;
  readonly status: number | undefined;
  readonly rawCode: string | undefined;
  readonly maybeOverflow: boolean;

  constructor(code: ProviderErrorCode, message: string, options: ProviderErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.retryAfterMs = options.retryAfterMs;
    this.retryable = options.retryable ?? PROVIDER_ERRORS[code].retryable;
    this.remedy = options.remedy ?? PROVIDER_ERRORS[code].remedy;
    this.numbers = options.numbers ?? {};
    this.status = options.status;
    this.rawCode = options.rawCode;
    this.maybeOverflow = options.maybeOverflow ?? false;
  }
}
