import { ProviderError, type ProviderErrorCode } from '../providers/errors.ts';

/** Attempts of a step that must have met an overloaded provider before another model is asked. */
const PATIENCE = 3;

const OVERLOAD: ReadonlySet<ProviderErrorCode> = new Set(['overloaded', 'server_error']);

/** Whether another model should be asked: this one refuses for good, or has been too busy again and again. */
export function wantsFallback(error: unknown, attempt: number): error is ProviderError {
  if (!(error instanceof ProviderError)) return false;
  return error.remedy === 'fallback' || (OVERLOAD.has(error.code) && attempt >= PATIENCE);
}

/** The models to ask, in order: the one that the run is at, then the fallbacks after it. */
export function candidates(current: string, model: string, fallbacks: readonly string[]): readonly string[] {
  const all = [model, ...fallbacks];
  const at = all.indexOf(current);
  return at === -1 ? [current, ...all] : all.slice(at);
}
