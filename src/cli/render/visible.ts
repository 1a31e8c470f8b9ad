/**
 * What may not reach a terminal from a model, a tool or a user: C0 and C1 controls (ANSI sequences begin with one),
 * DEL, line and paragraph separators, and the bidirectional controls that make text read otherwise than it is
 * (Unicode TR 36 §3). Line feed and tab stay.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const UNSAFE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

/** The text with those characters written out as `\u{1b}`; everything else as it is. A `\r\n` becomes a line feed. */
export function visible(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .replace(UNSAFE, (character) => `\\u{${character.charCodeAt(0).toString(16).padStart(2, '0')}}`);
}

/** {@link visible} on one line of at most `limit` characters. */
export function visibleLine(text: string, limit: number): string {
  const line = visible(text).replace(/\s+/g, ' ').trim();
  const characters = [...line];
  return characters.length <= limit ? line : `${characters.slice(0, limit - 1).join('')}…`;
}
