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

/** What became of a final text that had to fit a schema. `problem` is one text for the model, see {@link correction}. */
export type StructuredReading =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly problem: string };

/**
 * Reads the final text of a model that was given an output schema: the JSON document, also inside a code fence or after a
 * sentence, which models without a native way like to write.
 *
 * @param check the schema's own judgement: what is wrong with a value, or `undefined` where nothing is.
 */
export function readStructured(text: string, check: (value: unknown) => string | undefined): StructuredReading {
  const fenced = /```(?:json)?\s*\n([\s\S]*?)\n\s*```/.exec(text)?.[1];
  const braced = /[[{][\s\S]*[\]}]/.exec(text)?.[0];
  for (const candidate of [text, fenced, braced]) {
    const parsed = candidate === undefined ? undefined : parsedJson(candidate);
    if (parsed === undefined) continue;
    const problem = check(parsed.value);
    return problem === undefined ? { ok: true, value: parsed.value } : { ok: false, problem };
  }
  return { ok: false, problem: text.trim() === '' ? 'The answer is empty.' : 'The answer is not a JSON document.' };
}

/** The one corrective request after an answer that did not fit; a second misfit is the caller's typed failure. */
export function correction(problem: string): string {
  return `Your answer does not fit the required schema: ${problem}\nAnswer again with nothing but one JSON document that fits it.`;
}

function parsedJson(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}
