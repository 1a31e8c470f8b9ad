import { ProviderError } from './errors.ts';

/** A request that got no HTTP answer, in our words: the vendors' clients tell of it by an error without a status. */
export function unanswered(error: Error): ProviderError {
  return new ProviderError('network', `No answer: ${reasonOf(error)}`, { cause: error.cause ?? error });
}

/** `ECONNREFUSED`, `ENOTFOUND` and the like stand deep in the causes of a failed fetch. */
function reasonOf(error: Error): string {
  let at: unknown = error;
  let reason = error.message;
  for (let depth = 0; at instanceof Error && depth < 5; depth += 1) {
    const code: unknown = Reflect.get(at, 'code');
    if (typeof code === 'string') return code;
    reason = at.message;
    at = at.cause;
  }
  return reason;
}
