import { headOf, wellFormed } from './well-formed.ts';

/** Characters (UTF-16 units) that a preview may have: it travels through histories and terminals. */
const MAX_PREVIEW = 200;

/** CSI and OSC sequences, other two-character escapes (ECMA-48 §5.3 and §5.4), and their C1 forms. */
const ESCAPES =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: escapes begin with control characters
  /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|(?:\u001b\]|\u009d)[^\u0007\u001b\u009c]*(?:\u0007|\u001b\\|\u009c)?|\u001b[ -/]*[0-~]?/g;

/** White space of any kind, control characters, and marks that reorder or hide text (bidirectional and zero-width). */
const INVISIBLE = /[\s\p{Cc}\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]+/gu;

/** One line of at most 200 characters: escapes and control characters gone, no split surrogate pair. */
export function preview(text: string): string {
  // Escapes and runs of space may be long: look at more than is kept, but never at megabytes.
  const start = text.slice(0, MAX_PREVIEW * 20);
  const line = wellFormed(headOf(start, start.length - (start.length < text.length ? 1 : 0)))
    .replace(ESCAPES, '')
    .replace(INVISIBLE, ' ')
    .trim();
  const whole = line.length <= MAX_PREVIEW && start.length === text.length;
  return whole ? line : `${headOf(line, MAX_PREVIEW - 1).trimEnd()}…`;
}
