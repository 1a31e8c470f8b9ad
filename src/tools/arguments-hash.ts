import { createHash } from 'node:crypto';
import type { Json, JsonObject } from '../transcript/json.ts';

/** What an approval is for: SHA-256, in hex, over the tool's name and its arguments as canonical JSON. */
export function argumentsHash(name: string, args: JsonObject): string {
  return createHash('sha256')
    .update(JSON.stringify(canonical([name, args])))
    .digest('hex');
}

/** The same value whatever order its keys were written in. */
function canonical(value: Json): Json {
  if (Array.isArray(value)) return value.map(canonical);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, one]): [string, Json] => [key, canonical(one)]);
  // As pairs: an object would put keys that look like numbers first and swallow `__proto__`.
  return { object: entries.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)) };
}
