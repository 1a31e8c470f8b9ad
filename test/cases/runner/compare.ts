import { isDeepStrictEqual } from 'node:util';

/** Says `expected …, seen …` unless the two are equal as JSON values; something unseen is a problem of its own. */
export function differs(want: unknown, seen: unknown): string | undefined {
  if (seen === undefined) return 'was not observed';
  return isDeepStrictEqual(want, seen) ? undefined : `expected ${show(want)}, seen ${show(seen)}`;
}

/** A value for a one-line message, at most 300 characters. */
export function show(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length <= 300 ? text : `${text.slice(0, 300)}…`;
}
