import type { Json, JsonObject } from '../../transcript/json.ts';
import { isJsonObject } from '../../transcript/json.ts';
import { mapSubSchemas } from './sub-schemas.ts';

/**
 * The same schema in the form that servers want, all the way down. Schemas that others wrote (MCP servers, by hand) may be
 * legal JSON Schema and are refused all the same: an array that says nothing of its items, a required field that is no
 * property, an enum of nothing. What is added says nothing new, and an enum of nothing goes.
 */
export function tidySchema(schema: JsonObject): JsonObject {
  const tidy = mapSubSchemas(schema, (inner) => (isJsonObject(inner) ? tidySchema(inner) : inner));
  return { ...withoutEmptyEnum(tidy), ...itemsOf(tidy), ...propertiesOf(tidy) };
}

function withoutEmptyEnum(schema: JsonObject): JsonObject {
  const { enum: values, ...rest } = schema;
  return Array.isArray(values) && values.length === 0 ? rest : schema;
}

function itemsOf({ type, items }: JsonObject): JsonObject {
  const isArray = type === 'array' || (Array.isArray(type) && type.includes('array'));
  return isArray && items === undefined ? { items: {} } : {};
}

function propertiesOf({ properties, required }: JsonObject): JsonObject {
  if (!isJsonObject(properties) || !Array.isArray(required)) return {};
  const unknown = required.filter(
    (name): name is string => typeof name === 'string' && !Object.hasOwn(properties, name),
  );
  if (unknown.length === 0) return {};
  return { properties: { ...properties, ...Object.fromEntries(unknown.map((name): [string, Json] => [name, {}])) } };
}
