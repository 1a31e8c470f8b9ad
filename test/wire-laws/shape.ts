/** A JSON object as it stands in a request body. */
export type Obj = Readonly<Record<string, unknown>>;

/** Notes a broken rule at a path such as `messages[2].content[0]`. */
export type Flag = (path: string, rule: string) => void;

/** Runs a checker and hands back what it flagged, one `path: rule` a line. */
export function collect(run: (flag: Flag) => void): string[] {
  const broken: string[] = [];
  run((path, rule) => broken.push(`${path}: ${rule}`));
  return broken;
}

export function isObject(value: unknown): value is Obj {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value as an object; flags and returns `undefined` otherwise. */
export function object(value: unknown, path: string, flag: Flag): Obj | undefined {
  if (isObject(value)) return value;
  flag(path, 'must be an object');
  return undefined;
}

/** The value as an array with at least `min` entries; flags what it is not, and returns `[]` for a non-array. */
export function list(value: unknown, path: string, flag: Flag, min = 0): readonly unknown[] {
  if (!Array.isArray(value)) {
    flag(path, 'must be an array');
    return [];
  }
  if (value.length < min) flag(path, `must have at least ${min} entries`);
  return value;
}

/** Flags keys that are neither required nor optional, and required ones that are missing. `undefined` counts as missing. */
export function keys(
  value: Obj,
  path: string,
  flag: Flag,
  required: readonly string[],
  optional: readonly string[],
): void {
  for (const key of required) if (value[key] === undefined) flag(path, `key ${key} is required`);
  for (const key of Object.keys(value)) {
    if (value[key] === undefined) continue;
    if (!required.includes(key) && !optional.includes(key)) flag(path, `key ${key} is not permitted`);
  }
}

export function string(value: unknown, path: string, flag: Flag): value is string {
  if (typeof value === 'string') return true;
  flag(path, 'must be a string');
  return false;
}

export function matches(value: unknown, pattern: RegExp, path: string, flag: Flag): value is string {
  if (!string(value, path, flag)) return false;
  if (pattern.test(value)) return true;
  flag(path, `${JSON.stringify(value)} does not match ${pattern}`);
  return false;
}

export function oneOf(value: unknown, allowed: readonly unknown[], path: string, flag: Flag): boolean {
  if (allowed.includes(value)) return true;
  flag(path, `${JSON.stringify(value)} is not one of ${JSON.stringify(allowed)}`);
  return false;
}

export function boolean(value: unknown, path: string, flag: Flag): void {
  if (typeof value !== 'boolean') flag(path, 'must be a boolean');
}

/** Checks a number against closed bounds. */
export function number(
  value: unknown,
  path: string,
  flag: Flag,
  bounds: { readonly min?: number; readonly max?: number; readonly integer?: boolean } = {},
): void {
  if (typeof value !== 'number' || !Number.isFinite(value)) {
    flag(path, 'must be a number');
    return;
  }
  if (bounds.integer === true && !Number.isInteger(value)) flag(path, 'must be an integer');
  if (bounds.min !== undefined && value < bounds.min) flag(path, `must be at least ${bounds.min}`);
  if (bounds.max !== undefined && value > bounds.max) flag(path, `must be at most ${bounds.max}`);
}

/** Text that a server may refuse as empty: nothing but white space. */
export function isBlank(text: string): boolean {
  return text.trim() === '';
}

/** Padded or unpadded standard base64 of at least one byte. */
export function base64(value: unknown, path: string, flag: Flag): void {
  if (!string(value, path, flag)) return;
  if (value === '') flag(path, 'is empty');
  else if (!/^[A-Za-z0-9+/]+={0,2}$/.test(value) || value.replace(/=+$/, '').length % 4 === 1) {
    flag(path, 'is not base64');
  }
}

/** Formats that OpenAI and Anthropic both read. */
export const IMAGE_TYPES: readonly string[] = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];

/** An image by `https:` address or inline in a `data:` URL. */
export function imageUrl(value: unknown, path: string, flag: Flag): void {
  if (!string(value, path, flag) || /^https?:\/\/./.test(value)) return;
  const inline = /^data:([^;,]+);base64,(.*)$/s.exec(value);
  if (inline === null) {
    flag(path, 'is neither an http address nor a base64 data URL');
    return;
  }
  oneOf(inline[1], IMAGE_TYPES, path, flag);
  base64(inline[2], path, flag);
}

/** The text as a JSON object, or a flag. */
export function jsonObjectText(value: unknown, path: string, flag: Flag): void {
  if (!string(value, path, flag)) return;
  try {
    if (!isObject(JSON.parse(value))) flag(path, 'must be the text of a JSON object');
  } catch {
    flag(path, 'is not valid JSON');
  }
}

/** Flags every later occurrence of a value. */
export function unique(values: readonly unknown[], path: string, what: string, flag: Flag): void {
  const seen = new Set<unknown>();
  for (const value of values) {
    if (seen.has(value)) flag(path, `duplicate ${what} ${JSON.stringify(value)}`);
    seen.add(value);
  }
}
