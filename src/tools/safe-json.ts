/** Nesting beyond which values are only named. */
const MAX_DEPTH = 50;

interface Writer {
  readonly parts: string[];
  length: number;
  readonly max: number;
  readonly ancestors: unknown[];
}

/** JSON text of a value, cut when it grew too long. */
export interface JsonText {
  readonly text: string;
  /** Whether writing stopped at the limit; the text is then no whole JSON. */
  readonly cut: boolean;
}

/**
 * `JSON.stringify` for values nobody promised to be JSON: never throws, never grows beyond `maxChars`.
 *
 * Cycles become `"[circular]"`, big integers strings, dates ISO texts, maps objects (or lists of pairs), sets lists,
 * bytes a note with their size, errors their name and message; functions, symbols and undefined fields go, as in JSON.
 */
export function safeJson(value: unknown, maxChars: number): JsonText {
  const out: Writer = { parts: [], length: 0, max: maxChars, ancestors: [] };
  write(value, out);
  return { text: out.parts.join(''), cut: out.length >= out.max };
}

function put(out: Writer, text: string): void {
  if (out.length >= out.max) return;
  const room = out.max - out.length;
  const fits = text.length <= room ? text : text.slice(0, room);
  out.parts.push(fits);
  out.length += fits.length;
}

function write(value: unknown, out: Writer): void {
  if (out.length >= out.max) return;
  switch (typeof value) {
    case 'string':
      // Cut first: the whole of a huge text need not be escaped to be thrown away.
      put(out, JSON.stringify(value.length > out.max ? value.slice(0, out.max) : value));
      return;
    case 'number':
      put(out, Number.isFinite(value) ? String(value) : 'null');
      return;
    case 'bigint':
      put(out, `"${value}"`);
      return;
    case 'boolean':
      put(out, String(value));
      return;
    case 'object':
      writeObject(value, out);
      return;
    default:
      put(out, 'null'); // undefined, functions and symbols in lists, as JSON.stringify has it.
  }
}

function writeObject(value: object | null, out: Writer): void {
  const instead = standIn(value, out.ancestors);
  if (instead !== undefined || value === null) {
    put(out, instead ?? 'null');
    return;
  }
  out.ancestors.push(value);
  try {
    writeParts(value, out);
  } catch (error) {
    // A getter or toJSON of the value threw; what was written before it stays.
    put(out, JSON.stringify(`[unreadable: ${error instanceof Error ? error.message : 'threw'}]`));
  } finally {
    out.ancestors.pop();
  }
}

/** JSON text for objects whose fields are not what they mean. */
function standIn(value: object | null, ancestors: readonly unknown[]): string | undefined {
  if (value === null) return 'null';
  if (ancestors.includes(value)) return '"[circular]"';
  if (ancestors.length >= MAX_DEPTH) return '"[nested too deep]"';
  if (value instanceof RegExp) return JSON.stringify(String(value));
  return ArrayBuffer.isView(value) || value instanceof ArrayBuffer ? `"[${value.byteLength} bytes]"` : undefined;
}

function writeParts(value: object, out: Writer): void {
  const { toJSON } = value as { toJSON?: unknown };
  if (Array.isArray(value)) {
    writeList(value, out);
  } else if (value instanceof Set) {
    writeList([...value], out);
  } else if (value instanceof Map) {
    const named = [...value.keys()].every((key) => typeof key === 'string');
    if (named) writeFields([...value], out);
    else writeList([...value], out);
  } else if (value instanceof Error) {
    writeFields(
      [
        ['name', value.name],
        ['message', value.message],
      ],
      out,
    );
  } else if (typeof toJSON === 'function') {
    write(toJSON.call(value, ''), out);
  } else {
    writeFields(Object.entries(value), out);
  }
}

function writeList(list: readonly unknown[], out: Writer): void {
  put(out, '[');
  for (let i = 0; i < list.length && out.length < out.max; i += 1) {
    if (i > 0) put(out, ',');
    write(list[i], out);
  }
  put(out, ']');
}

function writeFields(fields: readonly (readonly [string, unknown])[], out: Writer): void {
  put(out, '{');
  let first = true;
  for (const [key, value] of fields) {
    if (out.length >= out.max) break;
    if (value === undefined || typeof value === 'function' || typeof value === 'symbol') continue;
    put(out, `${first ? '' : ','}${JSON.stringify(key)}:`);
    first = false;
    write(value, out);
  }
  put(out, '}');
}
