import type { Json, JsonObject } from '../transcript/json.ts';
import { isJsonObject } from '../transcript/json.ts';
import { referenced } from './input-schema.ts';
import { type Parsed, place, withoutProto } from './parse-args.ts';

type Path = readonly PropertyKey[];
interface Problem {
  readonly path: Path;
  readonly text: string;
}

const MAX_PROBLEMS = 8;
/** A schema may refer to itself; no arguments are nested deeper than this. */
const MAX_DEPTH = 64;
/** A hostile schema may branch without end; what is not checked by then passes, and the tool's owner decides. */
const MAX_CHECKS = 50_000;

/**
 * Checks arguments against a JSON Schema (draft 2020-12 and its predecessors): types, required and additional fields,
 * enums, unions, bounds, patterns, local references. Keywords beyond these pass: the tool's owner checks again.
 */
export function checkSchema(schema: JsonObject, args: JsonObject): Parsed {
  const value = withoutProto(args);
  const found = check(schema, value, { root: schema, path: [], depth: 0, budget: { checks: MAX_CHECKS } });
  if (found.length === 0) return { ok: true, value };
  const lines = found.slice(0, MAX_PROBLEMS).map(({ path, text }) => `${place(path)}: ${text}`);
  if (found.length > MAX_PROBLEMS) lines.push(`and ${found.length - MAX_PROBLEMS} more`);
  return { ok: false, message: lines.join('\n') };
}

interface Place {
  readonly root: JsonObject;
  readonly path: Path;
  readonly depth: number;
  readonly budget: { checks: number };
}

function check(schema: Json | undefined, value: Json, at: Place): readonly Problem[] {
  if (schema === false) return [{ path: at.path, text: 'nothing is allowed here' }];
  if (!isJsonObject(schema) || at.depth > MAX_DEPTH || at.budget.checks <= 0) return [];
  at.budget.checks -= 1;
  const typed = ofType(schema.type, value, at.path);
  if (typed.length > 0) return typed;
  return [
    ...referencedProblems(schema, value, at),
    ...choice(schema, value, at.path),
    ...combined(schema, value, at),
    ...(typeof value === 'string' ? text(schema, value, at.path) : []),
    ...(typeof value === 'number' ? number(schema, value, at.path) : []),
    ...(Array.isArray(value) ? list(schema, value, at) : []),
    ...(isJsonObject(value) ? fields(schema, value, at) : []),
  ];
}

function typeOf(value: Json): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

function ofType(type: Json | undefined, value: Json, path: Path): readonly Problem[] {
  if (type === undefined) return [];
  const allowed = Array.isArray(type) ? type : [type];
  const actual = typeOf(value);
  const fits = allowed.some((name) => name === actual || (name === 'integer' && Number.isInteger(value)));
  return fits ? [] : [{ path, text: `expected ${allowed.join(' or ')}, got ${actual}` }];
}

function referencedProblems(schema: JsonObject, value: Json, at: Place): readonly Problem[] {
  if (typeof schema.$ref !== 'string') return [];
  return check(referenced(at.root, schema.$ref), value, { ...at, depth: at.depth + 1 });
}

function choice(schema: JsonObject, value: Json, path: Path): readonly Problem[] {
  const allowed = Array.isArray(schema.enum) ? schema.enum : 'const' in schema ? [schema.const as Json] : undefined;
  if (allowed === undefined || allowed.some((one) => same(one, value))) return [];
  const shown = allowed.slice(0, 20).map((one) => JSON.stringify(one));
  return [{ path, text: `expected ${shown.length === 1 ? '' : 'one of '}${shown.join(', ')}` }];
}

function same(a: Json, b: Json): boolean {
  if (Array.isArray(a))
    return Array.isArray(b) && a.length === b.length && a.every((one, i) => same(one, b[i] as Json));
  if (!isJsonObject(a) || !isJsonObject(b)) return a === b;
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && same(a[key] as Json, b[key] as Json))
  );
}

function combined(schema: JsonObject, value: Json, at: Place): readonly Problem[] {
  const deeper = { ...at, depth: at.depth + 1 };
  const all = Array.isArray(schema.allOf) ? schema.allOf.flatMap((branch: Json) => check(branch, value, deeper)) : [];
  const banned = schema.not !== undefined && check(schema.not, value, deeper).length === 0;
  return [
    ...all,
    // A value that fits several branches of oneOf is taken: models write the least that says what they mean.
    ...nearest(schema.anyOf, value, deeper),
    ...nearest(schema.oneOf, value, deeper),
    ...(banned ? [{ path: at.path, text: 'this value is not allowed' }] : []),
  ];
}

/** The complaints of the branch that comes nearest; none when one fits. */
function nearest(branches: Json | undefined, value: Json, at: Place): readonly Problem[] {
  if (!Array.isArray(branches)) return [];
  const found = branches.map((branch: Json) => check(branch, value, at));
  return (
    found.reduce<readonly Problem[] | undefined>(
      (best, one) => (best === undefined || one.length < best.length ? one : best),
      undefined,
    ) ?? []
  );
}

function text(schema: JsonObject, value: string, path: Path): readonly Problem[] {
  const { minLength, maxLength, pattern } = schema;
  const problems: Problem[] = [];
  const bounded = typeof minLength === 'number' || typeof maxLength === 'number';
  const length = bounded ? [...value].length : 0;
  if (typeof minLength === 'number' && length < minLength) {
    problems.push({ path, text: `expected at least ${minLength} characters, got ${length}` });
  }
  if (typeof maxLength === 'number' && length > maxLength) {
    problems.push({ path, text: `expected at most ${maxLength} characters, got ${length}` });
  }
  if (typeof pattern === 'string' && value.length <= 10_000 && !matches(pattern, value)) {
    problems.push({ path, text: `expected a text that matches ${pattern}` });
  }
  return problems;
}

function matches(pattern: string, value: string): boolean {
  try {
    return new RegExp(pattern, 'u').test(value);
  } catch {
    return true; // Not a JavaScript pattern: its owner decides.
  }
}

function number(schema: JsonObject, value: number, path: Path): readonly Problem[] {
  const bounds: readonly (readonly [string, string, (limit: number) => boolean])[] = [
    ['minimum', 'at least', (limit) => value >= limit],
    ['maximum', 'at most', (limit) => value <= limit],
    ['exclusiveMinimum', 'more than', (limit) => value > limit],
    ['exclusiveMaximum', 'less than', (limit) => value < limit],
  ];
  return bounds.flatMap(([key, words, holds]) => {
    const limit = schema[key];
    return typeof limit === 'number' && !holds(limit)
      ? [{ path, text: `expected ${words} ${limit}, got ${value}` }]
      : [];
  });
}

function list(schema: JsonObject, value: readonly Json[], at: Place): readonly Problem[] {
  const { minItems, maxItems, prefixItems, items } = schema;
  const problems: Problem[] = [];
  if (typeof minItems === 'number' && value.length < minItems) {
    problems.push({ path: at.path, text: `expected at least ${minItems} items, got ${value.length}` });
  }
  if (typeof maxItems === 'number' && value.length > maxItems) {
    problems.push({ path: at.path, text: `expected at most ${maxItems} items, got ${value.length}` });
  }
  const fixed: readonly Json[] = Array.isArray(prefixItems) ? prefixItems : Array.isArray(items) ? items : [];
  const rest = Array.isArray(items) ? undefined : items;
  value.forEach((one, i) => {
    problems.push(...check(fixed[i] ?? rest, one, inside(at, i)));
  });
  return problems;
}

function fields(schema: JsonObject, value: JsonObject, at: Place): readonly Problem[] {
  const properties = isJsonObject(schema.properties) ? schema.properties : {};
  const patterns = isJsonObject(schema.patternProperties) ? Object.keys(schema.patternProperties) : [];
  const required: readonly Json[] = Array.isArray(schema.required) ? schema.required : [];
  const missing = required.flatMap((key): readonly Problem[] => {
    if (typeof key !== 'string' || Object.hasOwn(value, key)) return [];
    const declared = Object.hasOwn(properties, key) ? properties[key] : undefined;
    const type = isJsonObject(declared) && typeof declared.type === 'string' ? `, expected ${declared.type}` : '';
    return [{ path: [...at.path, key], text: `missing${type}` }];
  });
  const wrong = Object.entries(value).flatMap(([key, inner]) => {
    if (Object.hasOwn(properties, key)) return check(properties[key], inner, inside(at, key));
    if (patterns.some((pattern) => matches(pattern, key))) return [];
    if (schema.additionalProperties === false) return [{ path: [...at.path, key], text: 'there is no such field' }];
    return check(schema.additionalProperties, inner, inside(at, key));
  });
  return [...missing, ...wrong];
}

function inside(at: Place, key: PropertyKey): Place {
  return { ...at, path: [...at.path, key], depth: at.depth + 1 };
}
