/**
 * Counts what a byte-pair tokenizer's pre-tokenizer would see: words by length, camel-case parts, digit groups,
 * punctuation runs, white space, scripts. The estimate is the dot product with the weights of `token-weights`.
 *
 * The classes follow the published split pattern of `o200k_base`: a word takes one space or mark before it, digits go
 * in threes, a punctuation run takes the newlines after it, a run of spaces leaves its last one to the next word.
 */

/** First index of each block of features; a block with buckets by length is as long as its number of buckets. */
const FEATURE = {
  /** Lower-case or capitalised ASCII word by length, 1 to 16 and longer. */
  word: 0,
  wordExtra: 16,
  /** Upper-case word by length, 1 to 8 and longer. */
  upper: 17,
  upperExtra: 25,
  /** Part of a camel-case name by length, 1 to 10 and longer. */
  camel: 26,
  camelExtra: 36,
  /** Short runs of letters and digits together. */
  mixedPart: 37,
  mixedLetter: 38,
  mixedDigits: 39,
  /** Hexadecimal runs of 16 and more. */
  hex: 40,
  /** Other long runs of letters and digits: base64, random ids. */
  randomLetter: 41,
  randomPart: 42,
  randomDigits: 43,
  /** A word with neither a space nor a mark before it. */
  bareWord: 44,
  /** Groups of one, two, three digits. */
  digits: 45,
  spaceBeforeDigits: 48,
  /** A single mark right before a letter. */
  markBeforeWord: 49,
  /** Punctuation runs of 1, 2, 3, 4 and longer. */
  punctuation: 50,
  punctuationExtra: 54,
  punctuationRepeat: 55,
  newlineAfterMark: 56,
  newline: 57,
  newlineExtra: 58,
  indent: 59,
  indentExtra: 60,
  tab: 61,
  han: 62,
  hanRun: 63,
  hiragana: 64,
  hiraganaRun: 65,
  katakana: 66,
  katakanaRun: 67,
  hangul: 68,
  hangulRun: 69,
  /** Cyrillic words by length, 1 to 16 and longer. */
  cyrillic: 70,
  cyrillicExtra: 86,
  /** ASCII words that hold letters beyond ASCII: the word, its letters, those letters. */
  accentedWord: 87,
  accentedLetter: 88,
  accent: 89,
  greek: 90,
  rightToLeft: 91,
  indic: 92,
  thai: 93,
  cjkMark: 94,
  mark: 95,
  symbol: 96,
  astral: 97,
  /** UTF-8 bytes of anything else. */
  otherByte: 98,
} as const;

export const FEATURE_COUNT = 99;

const SPACE = 1;
const TAB = 2;
const NEWLINE = 3;
const LOWER = 4;
const UPPER = 5;
const DIGIT = 6;
const MARK = 7;
const HAN = 8;
const HIRAGANA = 9;
const KATAKANA = 10;
const HANGUL = 11;
const CYRILLIC = 12;
const ACCENTED = 13;
const GREEK = 14;
const RIGHT_TO_LEFT = 15;
const INDIC = 16;
const THAI = 17;
const CJK_MARK = 18;
const GENERAL_MARK = 19;
const SYMBOL = 20;
const ASTRAL = 21;
const OTHER = 22;

/** Ranges of the Basic Multilingual Plane beyond ASCII, by their class; what no range names is `OTHER`. */
const RANGES: readonly (readonly [from: number, to: number, cls: number])[] = [
  [0x00a0, 0x00bf, GENERAL_MARK],
  [0x00c0, 0x024f, ACCENTED],
  [0x0300, 0x036f, ACCENTED],
  [0x0370, 0x03ff, GREEK],
  [0x0400, 0x052f, CYRILLIC],
  [0x0590, 0x08ff, RIGHT_TO_LEFT],
  [0x0900, 0x0dff, INDIC],
  [0x0e00, 0x0eff, THAI],
  [0x1e00, 0x1eff, ACCENTED],
  [0x1f00, 0x1fff, GREEK],
  [0x2000, 0x206f, GENERAL_MARK],
  [0x20a0, 0x2bff, SYMBOL],
  [0x3000, 0x303f, CJK_MARK],
  [0x3040, 0x309f, HIRAGANA],
  [0x30a0, 0x30ff, KATAKANA],
  [0x3130, 0x318f, HANGUL],
  [0x3400, 0x9fff, HAN],
  [0xac00, 0xd7af, HANGUL],
  [0xd800, 0xdfff, ASTRAL],
  [0xf900, 0xfaff, HAN],
  [0xff00, 0xffef, CJK_MARK],
];

/** Class of each UTF-16 unit; 64 KiB, built once. */
const CLASS: Uint8Array = classTable();

function classTable(): Uint8Array {
  const table = new Uint8Array(65_536).fill(OTHER);
  for (let code = 0; code < 128; code += 1) table[code] = MARK;
  for (let code = 0x30; code <= 0x39; code += 1) table[code] = DIGIT;
  for (let code = 0x41; code <= 0x5a; code += 1) table[code] = UPPER;
  for (let code = 0x61; code <= 0x7a; code += 1) table[code] = LOWER;
  table[0x20] = SPACE;
  table[0x09] = TAB;
  table[0x0a] = NEWLINE;
  table[0x0d] = NEWLINE;
  for (const [from, to, cls] of RANGES) table.fill(cls, from, to + 1);
  return table;
}

/** Adds the features of `text` to `counts` (length {@link FEATURE_COUNT}). One pass; linear in the text. */
export function countFeatures(text: string, counts: Float64Array): void {
  const length = text.length;
  let at = 0;
  let before = NEWLINE;
  while (at < length) {
    const cls = CLASS[text.charCodeAt(at)] as number;
    const end = runEnd(text, at, cls);
    switch (cls) {
      case LOWER:
      case UPPER:
      case DIGIT:
      case ACCENTED:
        alphanumeric(text, at, end, before, counts);
        break;
      case MARK:
        punctuation(text, at, end, counts);
        break;
      case SPACE:
        if (end - at > 1) indent(end - at, counts);
        else if (end < length && CLASS[text.charCodeAt(end)] === DIGIT) add(counts, FEATURE.spaceBeforeDigits, 1);
        break;
      case NEWLINE:
        add(counts, before === MARK ? FEATURE.newlineAfterMark : FEATURE.newline, 1);
        add(counts, FEATURE.newlineExtra, end - at - 1);
        break;
      case TAB:
        add(counts, FEATURE.tab, 1);
        break;
      default:
        otherScript(text, at, end, cls, counts);
    }
    before = cls;
    at = end;
  }
}

function add(counts: Float64Array, index: number, by: number): void {
  counts[index] = (counts[index] as number) + by;
}

/** End of the run that starts at `from`: letters and digits of Latin script run together, other classes alone. */
function runEnd(text: string, from: number, cls: number): number {
  const length = text.length;
  let end = from + 1;
  if (cls === LOWER || cls === UPPER || cls === DIGIT || cls === ACCENTED) {
    while (end < length) {
      const next = CLASS[text.charCodeAt(end)] as number;
      if (next !== LOWER && next !== UPPER && next !== DIGIT && next !== ACCENTED) break;
      end += 1;
    }
    return end;
  }
  while (end < length && CLASS[text.charCodeAt(end)] === cls) end += 1;
  return end;
}

const LONG_RUN = 16;

function alphanumeric(text: string, from: number, end: number, before: number, counts: Float64Array): void {
  let upper = 0;
  let digits = 0;
  let accents = 0;
  let parts = 1;
  let last = 0;
  for (let at = from; at < end; at += 1) {
    const cls = CLASS[text.charCodeAt(at)] as number;
    if (cls === UPPER) {
      upper += 1;
      if (last === LOWER) parts += 1;
    } else if (cls === DIGIT) digits += 1;
    else if (cls === ACCENTED) accents += 1;
    last = cls;
  }
  const length = end - from;
  if (digits === length) {
    numbers(length, counts);
    return;
  }
  if (before !== SPACE && before !== MARK) add(counts, FEATURE.bareWord, 1);
  if (accents > 0) {
    add(counts, FEATURE.accentedWord, 1);
    add(counts, FEATURE.accentedLetter, length);
    add(counts, FEATURE.accent, accents);
  } else if (digits > 0 || (length >= LONG_RUN && length < parts * 3)) {
    mixed(text, from, end, counts);
  } else if (parts > 1) {
    camel(text, from, end, counts);
  } else if (upper === length) {
    bucket(length, 8, FEATURE.upper, FEATURE.upperExtra, counts);
  } else {
    bucket(length, 16, FEATURE.word, FEATURE.wordExtra, counts);
  }
}

function bucket(length: number, buckets: number, first: number, extra: number, counts: Float64Array): void {
  if (length <= buckets) add(counts, first + length - 1, 1);
  else {
    add(counts, first + buckets - 1, 1);
    add(counts, extra, length - buckets);
  }
}

function numbers(length: number, counts: Float64Array): void {
  const rest = length % 3;
  add(counts, FEATURE.digits + 2, (length - rest) / 3);
  if (rest > 0) add(counts, FEATURE.digits + rest - 1, 1);
}

function camel(text: string, from: number, end: number, counts: Float64Array): void {
  let start = from;
  for (let at = from + 1; at < end; at += 1) {
    if (CLASS[text.charCodeAt(at)] === UPPER && CLASS[text.charCodeAt(at - 1)] === LOWER) {
      bucket(at - start, 10, FEATURE.camel, FEATURE.camelExtra, counts);
      start = at;
    }
  }
  bucket(end - start, 10, FEATURE.camel, FEATURE.camelExtra, counts);
}

/** Letters and digits together, or long runs that change case all the time. */
function mixed(text: string, from: number, end: number, counts: Float64Array): void {
  const length = end - from;
  if (length >= LONG_RUN && isHex(text, from, end)) {
    add(counts, FEATURE.hex, length);
    return;
  }
  const random = length >= LONG_RUN;
  let letters = 0;
  let parts = 0;
  let groups = 0;
  let digitRun = 0;
  let last = 0;
  for (let at = from; at < end; at += 1) {
    const cls = CLASS[text.charCodeAt(at)] as number;
    if (cls === DIGIT) {
      if (digitRun % 3 === 0) groups += 1;
      digitRun += 1;
    } else {
      letters += 1;
      digitRun = 0;
      if (last === DIGIT || last === 0 || (last === LOWER && cls === UPPER)) parts += 1;
    }
    last = cls;
  }
  add(counts, random ? FEATURE.randomLetter : FEATURE.mixedLetter, letters);
  add(counts, random ? FEATURE.randomPart : FEATURE.mixedPart, parts);
  add(counts, random ? FEATURE.randomDigits : FEATURE.mixedDigits, groups);
}

function isHex(text: string, from: number, end: number): boolean {
  for (let at = from; at < end; at += 1) {
    const code = text.charCodeAt(at) | 0x20;
    if (code > 0x66 || (code > 0x39 && code < 0x61)) return false;
  }
  return true;
}

function punctuation(text: string, from: number, end: number, counts: Float64Array): void {
  const length = end - from;
  if (length > 4) {
    let repeats = 0;
    for (let at = from + 4; at < end; at += 1) if (text.charCodeAt(at) === text.charCodeAt(at - 1)) repeats += 1;
    add(counts, FEATURE.punctuation + 3, 1);
    add(counts, FEATURE.punctuationRepeat, repeats);
    add(counts, FEATURE.punctuationExtra, length - 4 - repeats);
  } else if (length === 1 && beforeWord(text, end)) add(counts, FEATURE.markBeforeWord, 1);
  else add(counts, FEATURE.punctuation + length - 1, 1);
}

function beforeWord(text: string, at: number): boolean {
  if (at >= text.length) return false;
  const cls = CLASS[text.charCodeAt(at)] as number;
  return cls === LOWER || cls === UPPER || cls >= HAN;
}

function indent(length: number, counts: Float64Array): void {
  add(counts, FEATURE.indent, 1);
  add(counts, FEATURE.indentExtra, Math.floor(length / 32));
}

/** What a run in a script without cases and word spaces of its own adds: a feature for each unit, and one for the run. */
const SCRIPT: ReadonlyMap<number, { readonly unit: number; readonly run?: number }> = new Map([
  [HAN, { unit: FEATURE.han, run: FEATURE.hanRun }],
  [HIRAGANA, { unit: FEATURE.hiragana, run: FEATURE.hiraganaRun }],
  [KATAKANA, { unit: FEATURE.katakana, run: FEATURE.katakanaRun }],
  [HANGUL, { unit: FEATURE.hangul, run: FEATURE.hangulRun }],
  [GREEK, { unit: FEATURE.greek }],
  [RIGHT_TO_LEFT, { unit: FEATURE.rightToLeft }],
  [INDIC, { unit: FEATURE.indic }],
  [THAI, { unit: FEATURE.thai }],
  [CJK_MARK, { unit: FEATURE.cjkMark }],
  [GENERAL_MARK, { unit: FEATURE.mark }],
  [SYMBOL, { unit: FEATURE.symbol }],
  [ASTRAL, { unit: FEATURE.astral }],
]);

function otherScript(text: string, from: number, end: number, cls: number, counts: Float64Array): void {
  const length = end - from;
  const script = SCRIPT.get(cls);
  if (cls === CYRILLIC) bucket(length, 16, FEATURE.cyrillic, FEATURE.cyrillicExtra, counts);
  else if (script !== undefined) {
    add(counts, script.unit, cls === ASTRAL ? length / 2 : length);
    if (script.run !== undefined) add(counts, script.run, 1);
  } else {
    for (let at = from; at < end; at += 1) add(counts, FEATURE.otherByte, text.charCodeAt(at) < 0x800 ? 2 : 3);
  }
}
