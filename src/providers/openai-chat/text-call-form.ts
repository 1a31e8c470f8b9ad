import { isJsonObject, type Json } from '../../transcript/json.ts';
import { jsonEnd } from '../call-arguments.ts';
import type { ToolNames } from '../tool-names.ts';

/** A call that a model wrote as text. `arguments` is JSON text; broken where the markup was cut. */
export interface TextCall {
  readonly name: string;
  readonly arguments: string;
}

/** What stands at the start of a text, without its markup, and where it ends. `null`: nothing that may be recovered. */
export type Recovered = {
  readonly calls: readonly TextCall[];
  readonly text?: string;
  readonly reasoning?: string;
  readonly end: number;
} | null;

export interface TextCallForm {
  /** How the markup begins; matched whole. */
  readonly opener: string;
  /** Only at the start of an answer: too common in prose elsewhere. */
  readonly startOnly?: true;
  /** Whether what came so far may still become this form; absent: yes, to the end of the answer. */
  readonly possible?: (text: string) => boolean;
  readonly read: (text: string, names: ToolNames) => Recovered;
}

/** The offered call in a JSON value of any of the usual shapes, or `undefined`. */
export function callIn(value: Json, names: ToolNames): TextCall | undefined {
  if (!isJsonObject(value)) return undefined;
  const inner = isJsonObject(value.function) ? value.function : value;
  const name = typeof inner.name === 'string' ? inner.name : (value.tool ?? value.function ?? value.tool_name);
  const args = inner.arguments ?? inner.parameters ?? inner.args ?? inner.input;
  if (typeof name !== 'string' || !names.offers(name)) return undefined;
  return { name, arguments: typeof args === 'string' ? args : JSON.stringify(args ?? {}) };
}

export function parse(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

/** A JSON object or array at `from`, whole, with its end. */
export function jsonAt(text: string, from: number): { readonly value: Json; readonly end: number } | undefined {
  const end = jsonEnd(text, from);
  const value = end === undefined ? undefined : parse(text.slice(from, end));
  return end === undefined || value === undefined ? undefined : { value, end };
}

export function skipSpace(text: string, at: number): number {
  let i = at;
  while (i < text.length && /\s/.test(text.charAt(i))) i += 1;
  return i;
}

/** JSON text of an object. From entries, so that a key such as `__proto__` stays a key. */
export function objectOf(entries: readonly (readonly [string, Json])[]): string {
  return JSON.stringify(Object.fromEntries(entries));
}

/** A value written as bare text: text where the tool's schema takes a string or says nothing, else the JSON that it is. */
export function typed(value: string, key: string, tool: string, names: ToolNames): Json {
  const properties = names.schema(tool)?.properties;
  const property = isJsonObject(properties) && Object.hasOwn(properties, key) ? properties[key] : undefined;
  const type = isJsonObject(property) ? property.type : undefined;
  const types: readonly Json[] = Array.isArray(type) ? type : type === undefined ? [] : [type];
  return types.length === 0 || types.includes('string') ? value : (parse(value) ?? value);
}
