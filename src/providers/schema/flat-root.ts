import type { Json, JsonObject } from '../../transcript/json.ts';
import { isJsonObject } from '../../transcript/json.ts';
import { referenced } from './inline-refs.ts';

/** Keywords that OpenAI and Anthropic refuse at the root of a tool's schema. */
const BANNED: ReadonlySet<string> = new Set([
  'oneOf',
  'anyOf',
  'allOf',
  'not',
  'enum',
  'const',
  'if',
  'then',
  'else',
  '$ref',
  '$schema',
]);
/** Unions inside unions, references to references: deeper ones say nothing more. */
const MAX_DEPTH = 8;

/**
 * The schema with a plain object at its root, which is all that tool parameters may be.
 *
 * A union becomes one object with all properties of all branches, requiring only what every branch requires; a property
 * that is a constant in each becomes an enum of them. This is wider than the original: arguments are still checked
 * against that one locally.
 */
export function flatRoot(schema: JsonObject): JsonObject {
  const { properties, required, open } = flatten(schema, schema, 0);
  const own = Object.fromEntries(Object.entries(schema).filter(([key]) => !BANNED.has(key) && key !== 'required'));
  return {
    ...own,
    type: 'object',
    ...(open === undefined ? {} : { additionalProperties: open }),
    properties,
    ...(required.length === 0 ? {} : { required }),
  };
}

interface FlatObject {
  readonly properties: JsonObject;
  readonly required: readonly string[];
  /** `additionalProperties`, where something was said of it. */
  readonly open?: Json;
}

function flatten(schema: Json | undefined, root: JsonObject, depth: number): FlatObject {
  if (!isJsonObject(schema) || depth > MAX_DEPTH) return { properties: {}, required: [] };
  let result: FlatObject = {
    properties: isJsonObject(schema.properties) ? schema.properties : {},
    required: Array.isArray(schema.required)
      ? schema.required.filter((key): key is string => typeof key === 'string')
      : [],
    ...(schema.additionalProperties === undefined ? {} : { open: schema.additionalProperties }),
  };
  if (typeof schema.$ref === 'string') {
    result = both(result, flatten(referenced(root, schema.$ref), root, depth + 1));
  }
  for (const branch of Array.isArray(schema.allOf) ? schema.allOf : []) {
    result = both(result, flatten(branch, root, depth + 1));
  }
  for (const key of ['oneOf', 'anyOf']) {
    const branches = schema[key];
    if (!Array.isArray(branches) || branches.length === 0) continue;
    const flat = branches.filter(mayBeObject).map((branch: Json) => flatten(branch, root, depth + 1));
    if (flat.length > 0) result = both(result, flat.reduce(either));
  }
  return result;
}

/** Whether a branch counts: arguments are an object always, so that one of another type is never taken. */
function mayBeObject(branch: Json): boolean {
  if (!isJsonObject(branch)) return true;
  const { type } = branch;
  return type === undefined || type === 'object' || (Array.isArray(type) && type.includes('object'));
}

/** What must fit both. */
function both(a: FlatObject, b: FlatObject): FlatObject {
  return {
    properties: merge(a.properties, b.properties, (left, right) => ({ allOf: [left, right] })),
    required: [...new Set([...a.required, ...b.required])],
    ...openness(a, b),
  };
}

/** What may fit either. */
function either(a: FlatObject, b: FlatObject): FlatObject {
  return {
    properties: merge(a.properties, b.properties, alternatives),
    required: a.required.filter((key) => b.required.includes(key)),
    ...openness(a, b),
  };
}

/** Closed only where both are; open for good where one takes further fields; else nothing is said. */
function openness(a: FlatObject, b: FlatObject): Pick<FlatObject, 'open'> {
  if (a.open === false && b.open === false) return { open: false };
  const takesMore = [a.open, b.open].some((open) => open !== undefined && open !== false);
  return takesMore ? { open: a.open !== undefined && b.open === undefined && isEmpty(b) ? a.open : true } : {};
}

function isEmpty(flat: FlatObject): boolean {
  return Object.keys(flat.properties).length === 0 && flat.required.length === 0;
}

function merge(a: JsonObject, b: JsonObject, combine: (left: Json, right: Json) => Json): JsonObject {
  const merged = new Map<string, Json>(Object.entries(a));
  for (const [key, right] of Object.entries(b)) {
    const left = merged.get(key);
    merged.set(key, left === undefined || same(left, right) ? right : combine(left, right));
  }
  return Object.fromEntries(merged);
}

function alternatives(left: Json, right: Json): Json {
  const values = [...(valuesOf(left) ?? []), ...(valuesOf(right) ?? [])];
  if (valuesOf(left) !== undefined && valuesOf(right) !== undefined) {
    const types = new Set(values.map((value) => (value === null ? 'null' : typeof value)));
    const type = types.size === 1 ? { type: [...types][0] as string } : {};
    return { ...type, enum: [...new Set(values)] };
  }
  const branches = [left, right].flatMap((one): readonly Json[] =>
    isJsonObject(one) && Array.isArray(one.anyOf) && Object.keys(one).length === 1 ? one.anyOf : [one],
  );
  return { anyOf: branches.filter((one, i) => branches.findIndex((other) => same(one, other)) === i) };
}

/** The constants that a schema allows, when it allows nothing else. */
function valuesOf(schema: Json): readonly Json[] | undefined {
  if (!isJsonObject(schema)) return undefined;
  if (Array.isArray(schema.enum)) return schema.enum;
  return schema.const === undefined ? undefined : [schema.const];
}

function same(a: Json, b: Json): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
