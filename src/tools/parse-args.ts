import type { z } from 'zod';
import type { Json, JsonObject } from '../transcript/json.ts';

export type Parsed = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly message: string };

type Issue = z.core.$ZodIssue;

/** Problems told to the model at once; more would drown the first ones. */
const MAX_PROBLEMS = 8;
/** Each round mends one layer of values inside values (a date in a set in a map). */
const MAX_ROUNDS = 4;

/**
 * Checks what the model wrote against the schema. Never throws.
 *
 * Strings are not taken for numbers nor the other way round: the model is told and asks again. Only what JSON cannot
 * hold is converted: dates, big integers, sets and maps (see `input-schema`). `__proto__` keys are dropped.
 */
export function parseArgs(schema: z.ZodType, args: JsonObject): Parsed {
  try {
    let value: Json | unknown = withoutProto(args);
    for (let round = 0; ; round += 1) {
      const result = schema.safeParse(value);
      if (result.success) return { ok: true, value: result.data };
      const mended = round < MAX_ROUNDS ? mend(value, result.error.issues) : undefined;
      if (mended === undefined) return { ok: false, message: problems(result.error.issues) };
      value = mended;
    }
  } catch (error) {
    return {
      ok: false,
      message: `input: the check itself failed: ${error instanceof Error ? error.message : 'unknown'}`,
    };
  }
}

/** A copy without own `__proto__` keys at any depth, so that no later merge can reach a prototype. */
export function withoutProto(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutProto);
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(([key]) => key !== '__proto__');
  return Object.fromEntries(kept.map(([key, inner]) => [key, withoutProto(inner)]));
}

/** `value` with the places converted that only fail because JSON has no such type; `undefined` when there are none. */
function mend(value: unknown, issues: readonly Issue[]): unknown {
  let mended = value;
  let changed = false;
  for (const issue of conversions(issues)) {
    mended = replaceAt(mended, issue.path, (old) => {
      const next = converted(issue.expected, old);
      changed ||= next !== old;
      return next;
    });
  }
  return changed ? mended : undefined;
}

interface Conversion {
  readonly path: readonly PropertyKey[];
  readonly expected: string;
}

function conversions(issues: readonly Issue[], prefix: readonly PropertyKey[] = []): readonly Conversion[] {
  return issues.flatMap((issue): readonly Conversion[] => {
    const path = [...prefix, ...issue.path];
    if (issue.code === 'invalid_type') return [{ path, expected: issue.expected }];
    if (issue.code !== 'invalid_union') return [];
    // Only a branch that nothing but conversions stands against: another branch's types must not be forced on it.
    const branch = issue.errors.find(
      (inner) =>
        inner.length > 0 && inner.every((i) => i.code === 'invalid_type' && Object.hasOwn(CONVERT, i.expected)),
    );
    return branch === undefined ? [] : conversions(branch, path);
  });
}

const CONVERT: Readonly<Record<string, (value: unknown) => unknown>> = {
  date: (value) => {
    if (typeof value !== 'string' || !/^\d{4}-\d\d-\d\d/.test(value)) return value;
    const date = new Date(value);
    return Number.isNaN(date.getTime()) ? value : date;
  },
  bigint: (value) => {
    if (typeof value === 'number' && Number.isSafeInteger(value)) return BigInt(value);
    return typeof value === 'string' && /^-?\d{1,1000}$/.test(value) ? BigInt(value) : value;
  },
  set: (value) => (Array.isArray(value) ? new Set(value) : value),
  map: (value) => {
    if (!Array.isArray(value))
      return typeof value === 'object' && value !== null ? new Map(Object.entries(value)) : value;
    return value.every((pair) => Array.isArray(pair) && pair.length === 2) ? new Map(value) : value;
  },
};

function converted(expected: string, value: unknown): unknown {
  const convert = Object.hasOwn(CONVERT, expected) ? CONVERT[expected] : undefined;
  return convert === undefined ? value : convert(value);
}

function replaceAt(value: unknown, path: readonly PropertyKey[], change: (old: unknown) => unknown): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return change(value);
  if (Array.isArray(value)) return value.map((inner, i) => (i === key ? replaceAt(inner, rest, change) : inner));
  if (value instanceof Map && value.has(key)) return new Map(value).set(key, replaceAt(value.get(key), rest, change));
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return value;
  return { ...value, [key]: replaceAt((value as Record<PropertyKey, unknown>)[key], rest, change) };
}

function problems(issues: readonly Issue[]): string {
  return problemLines(issues, 'input').join('\n');
}

/** One line a problem, `input.path[2].name: what is wrong`; the first {@link MAX_PROBLEMS}. */
export function problemLines(issues: readonly Issue[], root: string): readonly string[] {
  const lines = issues.flatMap((issue) => sentences(issue, [], root));
  const rest = lines.length - MAX_PROBLEMS;
  return rest > 0 ? [...lines.slice(0, MAX_PROBLEMS), `and ${rest} more`] : lines;
}

function sentences(issue: Issue, prefix: readonly PropertyKey[], root: string): readonly string[] {
  const path = [...prefix, ...issue.path];
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => `${place([...path, key], root)}: there is no such field`);
  }
  if (issue.code === 'invalid_key') {
    return issue.issues.flatMap((inner) => sentences(inner as Issue, path, root));
  }
  if (issue.code === 'invalid_union' && issue.errors.length > 0 && issue.message === 'Invalid input') {
    // The branch with the fewest complaints is most likely the one that was meant.
    const nearest = [...issue.errors].sort((a, b) => a.length - b.length)[0] ?? [];
    return nearest.flatMap((inner) => sentences(inner, path, root));
  }
  return [`${place(path, root)}: ${plain(issue.message)}`];
}

/** zod's sentences in the short form models mend best: `expected string, got number`, `missing, expected string`. */
function plain(message: string): string {
  const short = message.replace(/^(Invalid input|Too small|Too big|Invalid option|Invalid string): /, '');
  const missing = /^expected (.+), received undefined$/.exec(short);
  return missing === null ? short.replace(', received ', ', got ') : `missing, expected ${missing[1]}`;
}

/** `input.files[0].path`, with quotes where a key is no plain word; without a root, `files[0].path`. */
export function place(path: readonly PropertyKey[], root = 'input'): string {
  const text = path.reduce<string>((before, key) => {
    if (typeof key === 'number') return `${before}[${key}]`;
    const word = String(key);
    if (!/^[\p{L}_$][\p{L}\p{N}_$-]*$/u.test(word)) return `${before}[${JSON.stringify(word.slice(0, 80))}]`;
    return before === '' ? word : `${before}.${word}`;
  }, root);
  return text === '' ? 'the whole' : text;
}
