import type Anthropic from '@anthropic-ai/sdk';
import type { ResponseTextConfig } from 'openai/resources/responses/responses';
import type { JsonObject } from '../transcript/json.ts';
import type { MessageRequest } from '../transcript/message.ts';
import { wireName } from '../transcript/wire-name.ts';
import { shaped } from './schema/wire-tools.ts';

export type OutputSchema = NonNullable<MessageRequest['outputSchema']>;

/** Anthropic's native way: `output_config.format`. Its objects must be closed, which is said wherever a schema is silent. */
export function anthropicFormat({ schema }: OutputSchema): Anthropic.Messages.JSONOutputFormat {
  return { type: 'json_schema', schema: closed(shaped(schema, { refs: 'keep', strict: 'off' }).schema) };
}

/** The Responses API's native way: `text.format`; strict where the schema can be said strictly. */
export function responsesFormat({ name, schema }: OutputSchema): NonNullable<ResponseTextConfig['format']> {
  const { schema: wire, strict } = shaped(schema, { refs: 'keep', strict: 'auto' });
  return { type: 'json_schema', name: wireName(name), schema: { ...wire }, strict };
}

const MAPS: readonly string[] = ['properties', '$defs', 'definitions'];
const LISTS: readonly string[] = ['anyOf', 'allOf', 'oneOf'];

/** The schema with `additionalProperties: false` on every object that does not speak of further fields. */
function closed(schema: JsonObject): JsonObject {
  const result: Record<string, JsonObject[string]> = { ...schema };
  for (const key of MAPS) {
    const map = schema[key];
    if (!isObject(map)) continue;
    result[key] = Object.fromEntries(
      Object.entries(map).map(([name, one]) => [name, isObject(one) ? closed(one) : one]),
    );
  }
  for (const key of LISTS) {
    const list = schema[key];
    if (Array.isArray(list)) result[key] = list.map((one: JsonObject[string]) => (isObject(one) ? closed(one) : one));
  }
  if (isObject(schema.items)) result.items = closed(schema.items);
  if (isObject(schema.properties) && schema.additionalProperties === undefined) result.additionalProperties = false;
  return result;
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
