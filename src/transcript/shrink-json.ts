import { isJsonObject, type Json } from './json.ts';
import { headOf, tailOf } from './well-formed.ts';

/** Members that tell how a call went: kept longest, wherever they stand in an object. */
const VITAL: ReadonlySet<string> = new Set([
  'status',
  'error',
  'errors',
  'message',
  'code',
  'ok',
  'success',
  'isError',
  'exitCode',
  'exit_code',
  'statusCode',
  'reason',
]);

/** How much of a value is written. A vital member gets more of a string than others. */
interface Limits {
  readonly string: number;
  readonly vital: number;
  readonly members: number;
  readonly depth: number;
}

/** Cheap sign that some number may not survive parsing: sixteen digits in a row, or a large exponent. */
const SUSPICIOUS = /\d{16}|\d[eE]\+?\d{3}/;

/** A string or a number, as JSON writes them. */
const LITERAL = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/** From much to nothing; the first that fits is taken, after a search between it and the one before. */
const STEPS: readonly Limits[] = [
  { string: 1 << 20, vital: 1 << 20, members: 1 << 20, depth: 100 },
  { string: 4000, vital: 4000, members: 200, depth: 32 },
  { string: 1000, vital: 2000, members: 100, depth: 16 },
  { string: 400, vital: 1000, members: 40, depth: 12 },
  { string: 200, vital: 600, members: 20, depth: 8 },
  { string: 100, vital: 400, members: 10, depth: 6 },
  { string: 60, vital: 240, members: 6, depth: 5 },
  { string: 30, vital: 160, members: 4, depth: 4 },
  { string: 16, vital: 100, members: 3, depth: 3 },
  { string: 8, vital: 60, members: 2, depth: 2 },
  { string: 0, vital: 40, members: 1, depth: 2 },
  { string: 0, vital: 20, members: 0, depth: 1 },
];

/**
 * A shorter JSON text with the same shell: long strings lose their middle, long arrays and objects their later
 * members, and notes (always strings) tell how many. `undefined` when `text` is no JSON object or array, when a
 * number in it would not survive parsing, or when not even the shell fits.
 */
export function shrinkJson(
  text: string,
  options: { readonly fits: (candidate: string) => boolean; readonly note?: string },
): string | undefined {
  const value = parsedContainer(text);
  if (value === undefined) return undefined;
  const write = (limits: Limits) => rendered(value, limits, options.note);
  let above: Limits | undefined;
  for (const limits of STEPS) {
    const candidate = write(limits);
    if (!options.fits(candidate)) {
      above = limits;
      continue;
    }
    return above === undefined ? candidate : between(limits, above, write, options.fits);
  }
  return undefined;
}

function parsedContainer(text: string): Json | undefined {
  const first = text.trimStart()[0];
  if (first !== '{' && first !== '[') return undefined;
  if (SUSPICIOUS.test(text) && !numbersSurvive(text)) return undefined;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

/** Whether writing every number anew keeps integers to the digit and the others finite: ids must not change. */
function numbersSurvive(text: string): boolean {
  for (const [literal] of text.matchAll(LITERAL)) {
    if (literal.startsWith('"')) continue;
    const value = Number(literal);
    if (!Number.isFinite(value)) return false;
    if (/^-?\d+$/.test(literal) && String(value) !== literal && literal !== '-0') return false;
  }
  return true;
}

/** The largest limits between one that fits and one that does not, by a few halvings. */
function between(
  low: Limits,
  high: Limits,
  write: (limits: Limits) => string,
  fits: (candidate: string) => boolean,
): string {
  let best = write(low);
  let from = 0;
  let to = 1;
  for (let round = 0; round < 6; round += 1) {
    const share = (from + to) / 2;
    const candidate = write(mix(low, high, share));
    if (fits(candidate)) {
      best = candidate;
      from = share;
    } else to = share;
  }
  return best;
}

function mix(low: Limits, high: Limits, share: number): Limits {
  const at = (a: number, b: number) => Math.round(a * (Math.max(b, 1) / Math.max(a, 1)) ** share);
  return {
    string: at(low.string, high.string),
    vital: at(low.vital, high.vital),
    members: at(low.members, high.members),
    depth: at(low.depth, high.depth),
  };
}

function rendered(value: Json, limits: Limits, note: string | undefined): string {
  return isJsonObject(value) ? object(value, limits, 1, note) : array(value as readonly Json[], limits, 1, note);
}

function written(value: Json, limits: Limits, depth: number, vital: boolean): string {
  if (typeof value === 'string') return JSON.stringify(shortened(value, vital ? limits.vital : limits.string));
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const inner = vital ? { ...limits, string: limits.vital, depth: limits.depth + 1 } : limits;
  if (depth >= inner.depth) return JSON.stringify(isJsonObject(value) ? '{…}' : '[…]');
  return isJsonObject(value) ? object(value, inner, depth + 1) : array(value as readonly Json[], inner, depth + 1);
}

/** Head and tail of a string that is longer than `limit` characters. */
function shortened(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const note = `… ${text.length - limit} characters cut …`;
  if (limit < 16) return `${headOf(text, limit)}…`;
  return `${headOf(text, Math.ceil(limit * 0.7))}${note}${tailOf(text, Math.floor(limit * 0.3))}`;
}

function array(values: readonly Json[], limits: Limits, depth: number, note?: string): string {
  const kept = values.slice(0, limits.members).map((value) => written(value, limits, depth, false));
  const missing = values.length - kept.length;
  if (missing > 0) kept.push(JSON.stringify(`… ${missing} more of ${values.length} cut`));
  if (note !== undefined) kept.push(JSON.stringify(note));
  return `[${kept.join(',')}]`;
}

function object(value: { readonly [key: string]: Json }, limits: Limits, depth: number, note?: string): string {
  const keys = Object.keys(value);
  let room = limits.members;
  const kept: string[] = [];
  for (const key of keys) {
    const vital = VITAL.has(key);
    if (!vital && room <= 0) continue;
    if (!vital) room -= 1;
    kept.push(`${JSON.stringify(key)}:${written(value[key] as Json, limits, depth, vital)}`);
  }
  const missing = keys.length - kept.length;
  if (missing > 0) kept.push(`"…":${JSON.stringify(`${missing} more of ${keys.length} members cut`)}`);
  if (note !== undefined) kept.push(`"…cut":${JSON.stringify(note)}`);
  return `{${kept.join(',')}}`;
}
