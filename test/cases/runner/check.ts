import { isObj, type Obj } from './case-file.ts';
import { ANSWER_CHECKS } from './check-answer.ts';
import { ERROR_CHECKS } from './check-error.ts';
import { REQUEST_CHECKS } from './check-request.ts';
import { RUN_CHECKS } from './check-run.ts';
import { SCHEMA_CHECKS } from './check-schema.ts';
import type { Observation } from './observation.ts';

/** Compares one key of a `check` with what was seen; says what is wrong, or nothing. `all` holds keys that modify others. */
export type Check = (want: unknown, seen: Observation, all: Obj) => string | undefined;

export type CheckTable = Readonly<Record<string, Check>>;

/** Keys that say how other keys are meant, or are remarks. */
const MODIFIERS = new Set(['compare', 'shape_note', 'executed_args_ignore']);

const CHECKS: CheckTable = {
  ...ANSWER_CHECKS,
  ...ERROR_CHECKS,
  ...REQUEST_CHECKS,
  ...RUN_CHECKS,
  ...SCHEMA_CHECKS,
  variants: variantsCheck,
  variant_error: (want, seen) =>
    seen.variant === undefined
      ? 'the variant was not run'
      : problems({ error: want }, seen.variant).join('; ') || undefined,
  one_of: oneOf,
};

/** What an observation lacks against a check, one line a key. A key that nobody knows is a problem, never ignored. */
export function problems(check: Obj, seen: Observation): string[] {
  const found: string[] = [];
  for (const [key, want] of Object.entries(check)) {
    if (MODIFIERS.has(key)) continue;
    const known = Object.hasOwn(CHECKS, key) ? CHECKS[key] : undefined;
    const problem = known === undefined ? 'unknown check key' : known(want, seen, check);
    if (problem !== undefined) found.push(`${key}: ${problem}`);
  }
  return found;
}

/** Whether a check asks only for things that this table knows. */
export function unknownKeys(check: Obj): string[] {
  return Object.keys(check).filter((key) => !MODIFIERS.has(key) && !Object.hasOwn(CHECKS, key));
}

function variantsCheck(want: unknown, seen: Observation): string | undefined {
  if (!Array.isArray(want)) return 'must be a list';
  if (seen.variants === undefined) return 'no variants were run';
  const found = want.flatMap((check, i) => {
    const variant = seen.variants?.[i];
    if (variant === undefined) return [`[${i}] was not run`];
    return isObj(check) ? problems(check, variant).map((problem) => `[${i}] ${problem}`) : [`[${i}] is no check`];
  });
  return found.length === 0 ? undefined : found.join('; ');
}

function oneOf(want: unknown, seen: Observation): string | undefined {
  if (!Array.isArray(want)) return 'must be a list';
  const tries = want.map((check) => (isObj(check) ? problems(check, seen) : ['is no check']));
  return tries.some((found) => found.length === 0)
    ? undefined
    : tries.map((found, i) => `(${i}) ${found.join('; ')}`).join(' | ');
}
