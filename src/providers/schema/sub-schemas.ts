import type { Json, JsonObject } from '../../transcript/json.ts';
import { isJsonObject } from '../../transcript/json.ts';

/** Keywords whose value is data, in which a `$ref` would be nothing but a value. */
const DATA: ReadonlySet<string> = new Set(['const', 'enum', 'default', 'examples', 'required']);
/** Keywords whose value is a map: its names are no keywords, a property may be called `$ref` or `enum`. */
const MAPS: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  'dependentSchemas',
  '$defs',
  'definitions',
]);

/** A schema with each schema right below it replaced; everything else stays, in its order. */
export function mapSubSchemas(schema: JsonObject, change: (inner: Json) => Json): JsonObject {
  return Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, mapped(key, value, change)]));
}

function mapped(key: string, value: Json, change: (inner: Json) => Json): Json {
  if (DATA.has(key)) return value;
  if (MAPS.has(key) && isJsonObject(value)) {
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, change(inner)]));
  }
  if (Array.isArray(value)) return value.map(change);
  return isJsonObject(value) ? change(value) : value;
}
