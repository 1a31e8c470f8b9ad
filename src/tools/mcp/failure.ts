/**
 * What became of a request that brought no result. `answered`: the server refused it, in its own words. `unsent`: it
 * was not done for certain. `lost`: nobody can tell. `unusable`: it was done, and what came of it cannot be used.
 */
export type McpFailureCode = 'answered' | 'unsent' | 'lost' | 'unusable';

export class McpFailure extends Error {
  override readonly name = 'McpFailure';
  readonly code: McpFailureCode;

  constructor(code: McpFailureCode, message: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
}

/** One line about an error, at most 300 characters. */
export function reasonOf(error: unknown): string {
  const ours = error instanceof McpFailure;
  const cause = !ours && error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : '';
  const text = error instanceof Error ? `${error.message}${cause}` : String(error);
  const line = text.replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ').trim();
  return line.length <= 300 ? line : `${line.slice(0, 299)}…`;
}
