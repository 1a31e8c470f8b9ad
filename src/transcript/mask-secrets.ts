import { wellFormed } from './well-formed.ts';

/** What stands in place of a secret. Safe inside JSON, URLs and shells. */
export const SECRET_MASK = '[redacted]';

/** What is shorter is a placeholder ("unused", "ollama"), and would tear holes into ordinary words. */
const MIN_LENGTH = 8;

/**
 * A function that takes these values out of text: plain, URL-escaped, in base64 anywhere inside a longer encoding, and
 * all of these inside JSON, whatever wrote it and however often.
 */
export function secretMask(secrets: readonly string[]): (text: string) => string {
  const forms = secrets
    .map(wellFormed)
    .filter((secret) => secret.length >= MIN_LENGTH)
    .flatMap((secret) => [secret, ...base64Cores(secret)])
    .filter((form) => form.length >= MIN_LENGTH);
  const longestFirst = [...new Set(forms)].sort((a, b) => b.length - a.length);
  const patterns = longestFirst.map((form) => new RegExp([...form].map(anyForm).join(''), 'g'));
  return (text) => patterns.reduce((safe, pattern) => safe.replace(pattern, SECRET_MASK), text);
}

/** What may stand for a character: itself, its bytes in a URL, its escapes in JSON. No encoder touches letters and digits. */
function anyForm(char: string): string {
  if (/[A-Za-z0-9]/.test(char)) return char;
  return `(?:${[itself(char), codePoints(char), inUrl(char), ...(char === ' ' ? ['\\+'] : [])].join('|')})`;
}

/** Each layer of JSON doubles backslashes, and puts one before a quotation mark; some do so before a slash. */
function itself(char: string): string {
  if (char === '\\') return '\\\\+(?!u005[cC])';
  const literal = /[.*+?^$(){}|[\]/-]/.test(char) ? `\\${char}` : char;
  return char === '"' || char === '/' ? `\\\\*${literal}` : literal;
}

function codePoints(char: string): string {
  const units = Array.from({ length: char.length }, (_, at) => char.charCodeAt(at).toString(16).padStart(4, '0'));
  return units.map((unit) => `\\\\+u${anyCase(unit)}`).join('');
}

/** Perhaps escaped more than once, which escapes the `%`. */
function inUrl(char: string): string {
  return utf8(char)
    .map((byte) => `%(?:25)*${anyCase(byte.toString(16).padStart(2, '0'))}`)
    .join('');
}

function anyCase(hex: string): string {
  return hex.replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
}

/** Base64 depends on what stands before: the characters that are the same for each of the three offsets. */
function base64Cores(secret: string): readonly string[] {
  const bytes = utf8(secret);
  return [0, 1, 2].flatMap((offset) => {
    const shifted = [...Array.from({ length: offset }, () => 0), ...bytes];
    const core = base64(shifted).slice(Math.ceil((offset * 8) / 6), Math.floor((shifted.length * 8) / 6));
    return [core, core.replaceAll('+', '-').replaceAll('/', '_')];
  });
}

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/** Without padding; this layer has no `Buffer`. */
function base64(bytes: readonly number[]): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += 3) {
    const [first = 0, second = 0, third = 0] = bytes.slice(at, at + 3);
    const bits = (first << 16) | (second << 8) | third;
    for (const shift of [18, 12, 6, 0]) text += DIGITS[(bits >> shift) & 63];
  }
  return text.slice(0, Math.ceil((bytes.length * 8) / 6));
}

function utf8(text: string): readonly number[] {
  const codes = encodeURIComponent(text).match(/%[0-9A-F]{2}|[^%]/g) ?? [];
  return codes.map((code) => (code.length === 3 ? Number.parseInt(code.slice(1), 16) : code.charCodeAt(0)));
}
