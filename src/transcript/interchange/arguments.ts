import { isJsonObject, type Json, type JsonObject } from '../json.ts';
import type { ToolUseBlock } from '../message.ts';

/** The arguments of an imported call: an object, and the text that came where that was none. */
export function readArguments(raw: Json | undefined): Pick<ToolUseBlock, 'input' | 'rawInput'> {
  if (isJsonObject(raw)) return { input: raw };
  if (typeof raw !== 'string')
    return raw === undefined || raw === null ? { input: {} } : { input: {}, rawInput: JSON.stringify(raw) };
  const parsed = parsedObject(raw);
  if (parsed !== undefined) return { input: parsed };
  return raw.trim() === '' ? { input: {} } : { input: {}, rawInput: raw };
}

/** The text in which a call's arguments are exported where the format takes any text. */
export function argumentsText({ input, rawInput }: Pick<ToolUseBlock, 'input' | 'rawInput'>): string {
  return rawInput ?? JSON.stringify(input);
}

function parsedObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
