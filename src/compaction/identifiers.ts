/** What an exact identifier is, as far as its form tells. */
export type IdentifierKind =
  | 'url'
  | 'email'
  | 'path'
  | 'uuid'
  | 'hash'
  | 'id'
  | 'variable'
  | 'flag'
  | 'version'
  | 'host'
  | 'name'
  | 'number';

export interface Identifier {
  readonly text: string;
  readonly kind: IdentifierKind;
  /** Position of the first occurrence, in UTF-16 units. */
  readonly start: number;
  readonly end: number;
}

/** Longer runs are data (base64, minified code), not names that anybody would repeat. */
const MAX_LENGTH = 400;

/** Characters that a name may be made of: no white space, quotes, brackets or East Asian script, which all end one. */
const RUN = /[A-Za-z0-9\u00c0-\u024f\u0370-\u052f_./:@#%+~=&?$\\,-]+/g;

/** The scheme is bounded so that a long word is not scanned again from each of its letters. */
const URL = /\b[a-z][a-z0-9+.-]{1,15}:\/\/[^\s"'`<>\\{}|^\u3000-\u303f\u3400-\u9fff\uff00-\uffef]+/gi;

/** Citations of the transcript are ours, not names of the user's world. */
const CITATION = /\[#\d+(?:[-–,\s#\d]*)\]/g;

/** Code spans and quoted words without white space: what somebody marked as exact is exact. */
const QUOTED = /`([^`\s]{2,120})`|"([^"\s]{2,120})"|'([^'\s]{2,120})'/g;

/**
 * The exact identifiers of a text in order of their first occurrence, each once: paths, URLs, ids, hashes, versions,
 * numbers of three digits and more, code names. Plain words are none. Linear in the length of the text.
 */
export function identifiersOf(text: string): readonly Identifier[] {
  const found = new Map<string, Identifier>();
  const add = (kind: IdentifierKind, value: string, start: number): void => {
    if (!found.has(value)) found.set(value, { text: value, kind, start, end: start + value.length });
  };
  let rest = blanked(text, CITATION);
  rest = rest.replace(URL, (whole, offset: number) => {
    const url = trimmedUrl(whole);
    if (url.length <= MAX_LENGTH) add('url', url, offset);
    return ' '.repeat(url.length) + whole.slice(url.length);
  });
  for (const match of rest.matchAll(QUOTED)) {
    const value = match[1] ?? match[2] ?? match[3] ?? '';
    const kind = quotedKind(value, match[1] !== undefined);
    if (kind !== undefined) add(kind, value, match.index + 1);
  }
  for (const match of rest.matchAll(RUN)) {
    if (match[0].length > 2 * MAX_LENGTH) continue;
    classifyRun(match[0], match.index, add);
  }
  return [...found.values()].sort((a, b) => a.start - b.start || b.end - a.end);
}

/** Whether `text` holds the identifier as a whole, not as a part of a longer one. */
export function holdsIdentifier(text: string, identifier: string): boolean {
  for (let at = text.indexOf(identifier); at !== -1; at = text.indexOf(identifier, at + 1)) {
    const before = text[at - 1] ?? ' ';
    const after = text[at + identifier.length] ?? ' ';
    const opens = !isWord(before) || !isWord(identifier[0] ?? ' ');
    const closes = !isWord(after) || !isWord(identifier.at(-1) ?? ' ');
    if (opens && closes) return true;
  }
  return false;
}

function isWord(char: string): boolean {
  return (char >= '0' && char <= '9') || (char >= 'a' && char <= 'z') || (char >= 'A' && char <= 'Z') || char === '_';
}

function blanked(text: string, pattern: RegExp): string {
  return text.replace(pattern, (whole) => ' '.repeat(whole.length));
}

/** Sentence punctuation after a URL is not part of it, nor is a bracket that it did not open. */
function trimmedUrl(url: string): string {
  let end = url.length;
  const open = { ')': count(url, ')') - count(url, '('), ']': count(url, ']') - count(url, '[') };
  for (; end > 0; end -= 1) {
    const last = url[end - 1] ?? '';
    if (last === ')' || last === ']') {
      if (open[last] <= 0) break;
      open[last] -= 1;
    } else if (!'.,;:!?*_~'.includes(last)) break;
  }
  return url.slice(0, end);
}

function count(text: string, char: string): number {
  let found = 0;
  for (let at = text.indexOf(char); at !== -1; at = text.indexOf(char, at + 1)) found += 1;
  return found;
}

type Add = (kind: IdentifierKind, value: string, start: number) => void;

function classifyRun(run: string, start: number, add: Add): void {
  if (PLAIN_WORD.test(run)) return;
  if (addName(run, start, add) || !SPLIT.test(run)) return;
  // Not one name: `key=value`, `a,b`, escapes of JSON.
  for (const [piece, from] of pieces(run, start)) addName(piece, from, add);
}

/** Whether the run, without the punctuation around it, is one name. */
function addName(run: string, start: number, add: Add): boolean {
  const [value, from] = trimmedRun(run, start);
  const kind = value.length < 2 ? undefined : kindOf(value);
  if (kind === undefined) return false;
  if (value.length <= MAX_LENGTH) add(kind, kind === 'path' ? withoutLine(value) : value, from);
  return true;
}

/** Most runs are words: they are done with at once. */
const PLAIN_WORD = /^[A-Za-z\u00c0-\u024f]?[a-z\u00df-\u024f]*[.,:]?$/;

const SPLIT = /[=,&?:\\#]/;

/** The parts of a run between its separators, with their positions. */
function pieces(value: string, start: number): readonly (readonly [string, number])[] {
  const parts: (readonly [string, number])[] = [];
  let from = 0;
  for (let at = 0; at <= value.length; at += 1) {
    const char = value[at];
    if (char !== undefined && !SPLIT.test(char)) continue;
    if (at > from) parts.push([value.slice(from, at), start + from]);
    // The letter of an escape (`\n`) belongs to the separator.
    from = at + (char === '\\' && 'nrt'.includes(value[at + 1] ?? '-') ? 2 : 1);
    if (from > at + 1) at += 1;
  }
  return parts;
}

/** Without the punctuation around it that belongs to the sentence. */
function trimmedRun(run: string, start: number): readonly [string, number] {
  let from = 0;
  let end = run.length;
  while (from < end && ',:=&?%+.'.includes(run[from] ?? '') && !/^\.{1,2}\//.test(run.slice(from, from + 3))) {
    if (run[from] === '.' && /[A-Za-z]/.test(run[from + 1] ?? '')) break;
    from += 1;
  }
  if (/^[$+-]\d/.test(run.slice(from, from + 2))) from += 1;
  while (end > from && '.,:;?!&=+-~#@$'.includes(run[end - 1] ?? '')) end -= 1;
  return [run.slice(from, end), start + from];
}

function withoutLine(path: string): string {
  return path.replace(/:\d+(?::\d+)?$/, '');
}

const HEX = /^[0-9a-f]+$/i;
const EXTENSION =
  /\.(?:[cm]?[jt]sx?|json[l5c]?|ya?ml|toml|ini|cfg|conf|env|lock|md|mdx|txt|log|csv|tsv|xml|html?|css|s[ac]ss|svg|png|jpe?g|gif|webp|pdf|docx?|xlsx?|pptx?|zip|gz|tar|tgz|7z|py|rb|go|rs|java|kt|swift|cc?|cpp|hh?|hpp|cs|php|sh|bash|ps1|sql|db|sqlite|proto|graphql|ipynb|wasm|bin|exe|dll|so|pem|key|crt|parquet|vue|svelte|tf|gradle|diff|patch)$/i;
const ROOTS =
  /^(?:src|lib|test|tests|spec|docs?|bin|etc|usr|var|opt|home|tmp|app|apps|packages|public|scripts|config|dist|build|cmd|internal|node_modules|assets|migrations|vendor|data)\//;

function kindOf(value: string): IdentifierKind | undefined {
  if (/^[^@\s/:=,]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+$/.test(value)) return 'email';
  if (/^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i.test(value)) return 'uuid';
  if (/^(?:sha\d+|md5):[0-9a-f]{7,}$/i.test(value)) return 'hash';
  if (value.length >= 7 && HEX.test(value) && /\d/.test(value) && /[a-f]/i.test(value)) return 'hash';
  if (/^--[A-Za-z][\w-]*(?:=[^\s,]+)?$/.test(value)) return 'flag';
  if (isNumber(value)) return digits(value) >= 3 ? 'number' : undefined;
  if (/^v\d+(?:\.\d+)*(?:-[\w.]+)?$/i.test(value)) return 'version';
  if (/^\d+(?:\.\d+){2,3}(?:[-+][\w.]+)?$/.test(value)) return /^\d+(?:\.\d+){3}$/.test(value) ? 'host' : 'version';
  if (/^\d+(?:\.\d+){3}:\d+$/.test(value)) return 'host';
  if (/^(?:localhost|[A-Za-z][A-Za-z0-9-]*(?:\.[A-Za-z0-9-]+)*):\d{2,5}$/.test(value)) {
    return /^localhost|\.|-|\d.*:/.test(value) && !EXTENSION.test(value.replace(/:\d+$/, ''))
      ? 'host'
      : pathOrNothing(value);
  }
  if (/^\$?[A-Z][A-Z0-9]*_[A-Z0-9_]+$/.test(value)) return 'variable';
  if (/^\$[A-Z][A-Z0-9_]+$/.test(value)) return 'variable';
  if (/[=,&?]/.test(value)) return undefined;
  if (isPath(value)) return 'path';
  if (/[/\\:]/.test(value)) return undefined;
  if (/^[A-Za-z0-9-]{2,}(?:\.[A-Za-z0-9-]{2,})*\.[a-z]{2,12}$/.test(value)) return 'host';
  if (/^_?[A-Za-z0-9]+(?:_+[A-Za-z0-9]+)+$/.test(value)) return 'name';
  if (/^[a-z][a-z0-9]*(?:[A-Z][a-z0-9]*)+$/.test(value)) return 'name';
  if (/^[A-Za-z_][\w]*(?:\.[A-Za-z_]\w*)+$/.test(value) && /[A-Z_]/.test(value)) return 'name';
  return isCode(value) ? 'id' : undefined;
}

function pathOrNothing(value: string): IdentifierKind | undefined {
  return isPath(value) ? 'path' : undefined;
}

/** Digits with separators: 4821, 1,299.00, 2026-12-01, 14:30, 12.5%. */
function isNumber(value: string): boolean {
  return /^\d+(?:[.,:/-]\d+)*%?$/.test(value) && !/^\d+(?:\.\d+){2,}$/.test(value) && !/^\d+(?:\.\d+){3}:/.test(value);
}

function digits(value: string): number {
  return value.replace(/\D/g, '').length;
}

function isPath(value: string): boolean {
  if (/^[A-Za-z]:\\[^\\]/.test(value) || /^\\\\\w+\\/.test(value)) return true;
  const bare = withoutLine(value);
  if (/[:\\]/.test(bare)) return false;
  if (!bare.includes('/')) return bare.length > 3 && EXTENSION.test(bare) && /^[\w.@+-]+$/.test(bare);
  if (/^(?:\.{1,2}|~)?\/+[^/]/.test(bare)) return /[A-Za-z0-9]{2}/.test(bare);
  if (/^@[\w.-]+\/[\w.-]+/.test(bare)) return true;
  if (/^(?:\d+\/)+\d+$/.test(bare)) return false;
  if (EXTENSION.test(bare) || ROOTS.test(bare)) return true;
  const parts = bare.split('/').filter((part) => part !== '');
  return parts.length >= 3 || (parts.length === 2 && parts.some((part) => /[\d_]/.test(part) && part.length > 2));
}

/** Letters and digits mixed: 8841-K, INV-4821, sku77b. Ordinals and small amounts with a unit are words. */
function isCode(value: string): boolean {
  if (!/\d/.test(value)) return false;
  if (/^#\d+$/.test(value)) return digits(value) >= 2;
  if (!/[A-Za-z\u00c0-\u052f]/.test(value) || value.length < 3) return false;
  if (/^\d+(?:st|nd|rd|th)$/i.test(value)) return false;
  if (/^[~+-]?\d{1,2}(?:[.,]\d)?[A-Za-z%]{1,4}$/.test(value)) return false;
  if (/^\d{1,2}-[a-z]{2,}(?:-[a-z]+)*$/.test(value)) return false;
  return true;
}

/** What stands in a code span is exact unless it is one plain word; in quotes it must look like a name. */
function quotedKind(value: string, code: boolean): IdentifierKind | undefined {
  const known = kindOf(value);
  if (known !== undefined) return known;
  if (/[\\{}()[\]<>;=,:]/.test(value)) return undefined;
  if (/^[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]*)+$/.test(value)) return 'name';
  if (code && /^[\w\u00c0-\uffff.@/-]+$/.test(value) && /[-_./\d]/.test(value))
    return value.includes('/') ? 'path' : 'name';
  if (!code && /[/_]/.test(value) && /^[\w\u00c0-\uffff./-]+$/.test(value) && /\.\w{1,5}$/.test(value)) return 'path';
  return undefined;
}
