import type { Json, JsonObject } from '../../transcript/json.ts';
import { isJsonObject } from '../../transcript/json.ts';

/** Keywords that OpenAI's strict mode takes; platform.openai.com/docs/guides/structured-outputs#supported-schemas. */
const SUPPORTED: ReadonlySet<string> = new Set([
  'type',
  'properties',
  'required',
  'additionalProperties',
  'items',
  'anyOf',
  'enum',
  'const',
  '$ref',
  '$defs',
  'definitions',
  'description',
  'title',
  'pattern',
  'format',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minItems',
  'maxItems',
  '$schema',
]);
const FORMATS: ReadonlySet<string> = new Set([
  'date-time',
  'time',
  'date',
  'duration',
  'email',
  'hostname',
  'ipv4',
  'ipv6',
  'uuid',
]);
const MAX_DEPTH = 10;
const MAX_PROPERTIES = 5000;
const MAX_ENUM_VALUES = 1000;

/**
 * The schema as OpenAI's strict mode wants it, or `undefined` where strict mode cannot say the same: optional fields,
 * free-form objects, records, unsupported keywords or sizes. The tool is then sent without strict mode.
 *
 * The only change is `additionalProperties: false` on objects that did not speak of further fields.
 */
export function strictSchema(schema: JsonObject): JsonObject | undefined {
  const counts = { properties: 0, enumValues: 0 };
  const strict = strictNode(schema, 0, counts);
  if (!isJsonObject(strict) || strict.type !== 'object') return undefined;
  const fits = counts.properties <= MAX_PROPERTIES && counts.enumValues <= MAX_ENUM_VALUES;
  const { $schema: _draft, ...rest } = strict;
  return fits ? rest : undefined;
}

interface Counts {
  properties: number;
  enumValues: number;
}

function strictNode(schema: Json | undefined, depth: number, counts: Counts): Json | undefined {
  if (!isJsonObject(schema) || depth > MAX_DEPTH) return undefined;
  if (Object.keys(schema).some((key) => !SUPPORTED.has(key))) return undefined;
  // Its engine has no look-around.
  if (typeof schema.pattern === 'string' && /\(\?<?[=!]/.test(schema.pattern)) return undefined;
  if (typeof schema.format === 'string' && !FORMATS.has(schema.format)) return undefined;
  if (!['type', 'anyOf', 'enum', 'const', '$ref'].some((key) => key in schema)) return undefined;
  if (Array.isArray(schema.enum)) counts.enumValues += schema.enum.length;

  const result: Record<string, Json> = { ...schema };
  const isObject = Array.isArray(schema.type) ? schema.type.includes('object') : schema.type === 'object';
  if (isObject && !strictObject(schema, result, depth, counts)) return undefined;
  const isArray = Array.isArray(schema.type) ? schema.type.includes('array') : schema.type === 'array';
  if (isArray || schema.items !== undefined) {
    const items = strictNode(schema.items, depth + 1, counts);
    if (items === undefined) return undefined;
    result.items = items;
  }
  if (schema.anyOf !== undefined) {
    if (!Array.isArray(schema.anyOf) || depth === 0) return undefined;
    const branches = schema.anyOf.map((branch: Json) => strictNode(branch, depth, counts));
    if (branches.some((branch) => branch === undefined)) return undefined;
    result.anyOf = branches as Json[];
  }
  for (const key of ['$defs', 'definitions']) {
    const defs = schema[key];
    if (!isJsonObject(defs)) continue;
    const strict = Object.entries(defs).map(([name, def]) => [name, strictNode(def, 1, counts)] as const);
    if (strict.some(([, def]) => def === undefined)) return undefined;
    result[key] = Object.fromEntries(strict) as JsonObject;
  }
  return result;
}

function strictObject(schema: JsonObject, result: Record<string, Json>, depth: number, counts: Counts): boolean {
  const { additionalProperties, required } = schema;
  if (additionalProperties !== undefined && additionalProperties !== false) return false;
  // An object of unnamed fields would become one without any; at the root that means: no arguments.
  if (!isJsonObject(schema.properties)) return false;
  if (depth > 0 && additionalProperties === undefined && Object.keys(schema.properties).length === 0) return false;
  const names = Object.keys(schema.properties);
  const needed: readonly Json[] = Array.isArray(required) ? required : [];
  if (!names.every((name) => needed.includes(name))) return false;
  counts.properties += names.length;
  const inner = Object.entries(schema.properties).map(
    ([name, value]) => [name, strictNode(value, depth + 1, counts)] as const,
  );
  if (inner.some(([, value]) => value === undefined)) return false;
  result.properties = Object.fromEntries(inner) as JsonObject;
  result.required = names;
  result.additionalProperties = false;
  return true;
}
