import { wellFormed } from './well-formed.ts';

/** What stands in place of a secret. Safe inside JSON, URLs and shells. */
export const SECRET_MASK = '[redacted]';

/** What is shorter is a placeholder ("unused", "ollama"), and would tear holes into ordinary words. */
const MIN_LENGTH = 8;

/**
 * A function that takes these values out of text: plain, URL-escaped, JSON-escaped (also twice, and as other languages
 * do it) and in base64 anywhere inside a longer encoding.
 */
export function secretMask(secrets: readonly string[]): (text: string) => string {
  const forms = secrets
    .map(wellFormed)
    .filter((secret) => secret.length >= MIN_LENGTH)
    .flatMap(formsOf)
    .filter((form) => form.length >= MIN_LENGTH);
  const known = [...new Set(forms)].sort((a, b) => b.length - a.length);
  return (text) =>
    known.reduce((safe, form) => (safe.includes(form) ? safe.replaceAll(form, SECRET_MASK) : safe), text);
}

function formsOf(secret: string): readonly string[] {
  const escaped = [secret, urlEscaped(secret), encodeURIComponent(secret), lowerHex(urlEscaped(secret))];
  const json = escaped.flatMap((form) => [jsonEscaped(form), jsonEscaped(form).replaceAll('/', '\\/'), htmlSafe(form)]);
  return [...escaped, ...json, ...json.map(jsonEscaped), ...base64Cores(secret)];
}

function jsonEscaped(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** As Go writes JSON: `<`, `>` and `&` as their code points. */
function htmlSafe(text: string): string {
  return jsonEscaped(text).replace(/[<>&]/g, (char) => `\\u00${char.charCodeAt(0).toString(16)}`);
}

/** As forms and strict encoders do it: `encodeURIComponent` leaves five more characters as they are. */
function urlEscaped(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*~]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
}

function lowerHex(text: string): string {
  return text.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase());
}

/** Base64 depends on what stands before: the characters that are the same for each of the three offsets. */
function base64Cores(secret: string): readonly string[] {
  const bytes = utf8(secret);
  return [0, 1, 2].flatMap((offset) => {
    const shifted = [...Array.from({ length: offset }, () => 0), ...bytes];
    const core = base64(shifted).slice(Math.ceil((offset * 8) / 6), Math.floor((shifted.length * 8) / 6));
    return [core, core.replaceAll('+', '-').replaceAll('/', '_'), jsonEscaped(core).replaceAll('/', '\\/')];
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
