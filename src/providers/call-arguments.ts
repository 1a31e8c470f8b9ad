import { isJsonObject, type JsonObject } from '../transcript/json.ts';

/** What one call's argument text turned out to be; `raw` and `error` only where it was no JSON object. */
export type ParsedArguments =
  | { readonly ok: true; readonly value: JsonObject }
  | { readonly ok: false; readonly raw: string; readonly error: string };

/**
 * Reads the argument text of one native call: one entry a call.
 *
 * Nothing at all and `null` are no arguments (`{}`). An object that was encoded twice is decoded twice. Several complete
 * objects joined together are as many calls: some servers merge parallel calls into one. Whatever else is no object is
 * one entry with `ok: false`; nothing is ever guessed.
 */
export function parseCallArguments(text: string): readonly [ParsedArguments, ...ParsedArguments[]] {
  const trimmed = text.trim();
  if (trimmed === '') return [{ ok: true, value: {} }];
  const parsed = tryParse(trimmed);
  if (parsed === undefined) return joinedObjects(trimmed) ?? [failed(text, 'not valid JSON')];
  return [fromValue(parsed.value, text)];
}

function fromValue(value: unknown, text: string): ParsedArguments {
  if (value === null) return { ok: true, value: {} };
  if (isJsonObject(value)) return { ok: true, value };
  if (typeof value !== 'string') return failed(text, 'not a JSON object');
  if (value.trim() === '') return { ok: true, value: {} };
  const inner = tryParse(value);
  return inner !== undefined && isJsonObject(inner.value)
    ? { ok: true, value: inner.value }
    : failed(text, 'a string, not a JSON object');
}

function failed(raw: string, what: string): ParsedArguments {
  return { ok: false, raw, error: `The arguments are ${what}.` };
}

function tryParse(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

/** The calls in `{…}{…}`, or `undefined` where anything but white space stands between complete objects. */
function joinedObjects(text: string): [ParsedArguments, ...ParsedArguments[]] | undefined {
  const found: ParsedArguments[] = [];
  let at = 0;
  while (at < text.length) {
    const end = jsonEnd(text, at);
    if (end === undefined) return undefined;
    const parsed = tryParse(text.slice(at, end));
    if (parsed === undefined || !isJsonObject(parsed.value)) return undefined;
    found.push({ ok: true, value: parsed.value });
    at = end;
    while (at < text.length && /\s/.test(text.charAt(at))) at += 1;
  }
  const [first, ...rest] = found;
  return first === undefined ? undefined : [first, ...rest];
}

/**
 * Index after the JSON object or array that starts at `from`, or `undefined` when none starts there or it is cut off.
 *
 * Looks at brackets and strings only; whether the span is JSON is for `JSON.parse` to say.
 */
export function jsonEnd(text: string, from: number): number | undefined {
  if (text.charAt(from) !== '{' && text.charAt(from) !== '[') return undefined;
  let depth = 0;
  let inString = false;
  for (let i = from; i < text.length; i += 1) {
    const char = text.charAt(i);
    if (inString) {
      if (char === '\\') i += 1;
      else if (char === '"') inString = false;
    } else if (char === '"') inString = true;
    else if (char === '{' || char === '[') depth += 1;
    else if (char === '}' || char === ']') {
      depth -= 1;
      if (depth === 0) return i + 1;
    }
  }
  return undefined;
}
