/**
 * Why there is no dev server.
 *
 * `no_binary`: no Temporal CLI was found and none could be fetched. `start_failed`: it was found and does not serve.
 * `busy`: another process of this folder is starting or stopping it and does not finish.
 */
export type DevServerErrorCode = 'no_binary' | 'start_failed' | 'busy';

export class DevServerError extends Error {
  override readonly name = 'DevServerError';
  readonly code: DevServerErrorCode;
  /** How to mend it; may have several lines. */
  readonly hint: string;

  constructor(code: DevServerErrorCode, message: string, hint: string, options: { readonly cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.hint = hint;
  }
}
