import { z } from 'zod';
import type { Json, JsonObject } from '../transcript/json.ts';
import { isJsonObject } from '../transcript/json.ts';

/**
 * Stand-ins for zod types that JSON Schema cannot say; `parse` turns what the model writes into the real thing.
 * Anything else without a representation (functions, class instances, symbols) stays open and is checked by the tool.
 */
const STAND_INS: Readonly<Record<string, JsonObject>> = {
  date: { type: 'string', format: 'date-time', description: 'An ISO 8601 date and time.' },
  bigint: { type: 'string', pattern: '^-?[0-9]+$', description: 'A whole number of any size, as decimal digits.' },
  set: { type: 'array', uniqueItems: true },
  map: {
    type: 'array',
    items: { type: 'array', items: {}, minItems: 2, maxItems: 2 },
    description: 'A list of [key, value] pairs.',
  },
};

/**
 * JSON Schema (draft 2020-12) of what a model may write for `schema`: the input side of transforms and defaults.
 *
 * @throws TypeError when the root can never be an object: arguments of a tool always are.
 */
export function inputSchemaOf(toolName: string, schema: z.ZodType): JsonObject {
  const json = z.toJSONSchema(schema, OPTIONS);
  // A round trip: zod's object carries non-enumerable helpers and may share parts.
  const plain: JsonObject = JSON.parse(JSON.stringify(json));
  const saysNothing = Object.keys(plain).every((key) => key === '$schema' || key === 'description');
  return objectRoot(toolName, saysNothing ? { ...plain, additionalProperties: true } : plain);
}

type Override = Parameters<NonNullable<z.core.ToJSONSchemaParams['override']>>[0];

const OPTIONS: z.core.ToJSONSchemaParams = { io: 'input', unrepresentable: 'any', cycles: 'ref', override: standIn };

function standIn({ zodSchema, jsonSchema }: Override): void {
  const { type } = zodSchema._zod.def;
  const substitute = Object.hasOwn(STAND_INS, type) ? STAND_INS[type] : undefined;
  if (substitute !== undefined) {
    const { description } = jsonSchema;
    Object.assign(jsonSchema, substitute, itemsOf(zodSchema), description === undefined ? {} : { description });
  } else if (type === 'custom' && jsonSchema.description === undefined) {
    jsonSchema.description = 'A value that the tool checks itself.';
  }
}

/** What the members of a set are; open where that cannot be said on its own. */
function itemsOf({ _zod: { def } }: Override['zodSchema']): JsonObject {
  if (def.type !== 'set' || !('valueType' in def)) return {};
  const { $schema: _draft, ...items } = z.toJSONSchema(def.valueType as z.ZodType, OPTIONS);
  const text = JSON.stringify(items);
  return { items: /"\$(?:ref|defs)"/.test(text) ? {} : JSON.parse(text) };
}

/** `type: object` and `properties` at the root, whatever was given; a root without any keyword takes no arguments. */
export function objectRoot(toolName: string, schema: Json | undefined): JsonObject {
  const given = isJsonObject(schema) ? schema : {};
  if (!mayBeObject(given, given, new Set())) {
    throw new TypeError(
      `tool ${JSON.stringify(toolName)}: the arguments of a tool must be an object, not ${kindOf(given)}`,
    );
  }
  const { $schema: _draft, ...rest } = given;
  const open = ['anyOf', 'oneOf', 'allOf', '$ref', 'additionalProperties', 'properties'].some((key) => key in rest);
  return { ...rest, type: 'object', ...(open ? {} : { properties: {} }) };
}

function kindOf(schema: JsonObject): string {
  return typeof schema.type === 'string' ? `a ${schema.type}` : JSON.stringify(schema).slice(0, 100);
}

function mayBeObject(schema: Json | undefined, root: JsonObject, seen: Set<string>): boolean {
  if (!isJsonObject(schema)) return schema !== false;
  const { type, $ref } = schema;
  if (type !== undefined) return Array.isArray(type) ? type.includes('object') : type === 'object';
  if ('const' in schema || 'enum' in schema) return false;
  if (typeof $ref === 'string') {
    if (seen.has($ref)) return true;
    return mayBeObject(referenced(root, $ref), root, new Set(seen).add($ref));
  }
  for (const key of ['anyOf', 'oneOf']) {
    const branches = schema[key];
    // `null` beside an object only makes it optional, which arguments never are.
    if (Array.isArray(branches))
      return branches.filter((branch) => !isNull(branch)).every((branch) => mayBeObject(branch, root, seen));
  }
  return !Array.isArray(schema.allOf) || schema.allOf.every((branch) => mayBeObject(branch, root, seen));
}

function isNull(schema: Json | undefined): boolean {
  return isJsonObject(schema) && schema.type === 'null';
}

/** The sub-schema that a local reference such as `#/$defs/Node` means. */
export function referenced(root: JsonObject, ref: string): Json | undefined {
  if (!ref.startsWith('#')) return undefined;
  let at: Json | undefined = root;
  for (const raw of ref.slice(1).split('/').slice(1)) {
    const key = decodeURIComponent(raw).replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return undefined;
    at = (at as JsonObject)[key];
  }
  return at;
}
