/**
 * Text that people decide by, with everything written out as `\u{…}` that could make them see something else:
 *
 * - what is invisible or moves the cursor: control and format characters, separators, spaces that are none, fillers;
 * - what turns the reading direction (a format character as well);
 * - letters that look like ASCII and are not: styled and full-width forms, and Cyrillic, Greek, Armenian or Cherokee
 *   look-alikes in a word with Latin letters, or in a text that has no other letter of their script
 *   (Unicode TS 39, §4 and §5).
 *
 * Line feeds stay where `lines` says so; everything else is one line.
 */
export function unmistakable(text: string, options: { readonly lines?: true } = {}): string {
  const seen = options.lines === true ? text.replaceAll('\r\n', '\n') : text;
  const hasEastAsian = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}]/u.test(seen);
  return lookAlikes(seen)
    .replace(STYLED, (char) => (FULL_WIDTH.test(char) && hasEastAsian ? char : asAscii(char)))
    .replace(HIDDEN, (char) => (options.lines === true && char === '\n' ? char : escaped(char)));
}

/** No glyph of its own, or one that cannot be told from a space or from its neighbour (Unicode: Default_Ignorable). */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}\p{DI}\u00a0\u1680\u2000-\u200a\u202f\u205f\u2800]/gu;
/** Compatibility forms of letters and digits: mathematical, circled, full-width and so on. */
const STYLED = /[\u2100-\u214f\u2160-\u2188\u2460-\u24ff\uff01-\uff5e\u{1d400}-\u{1d7ff}\u{1f100}-\u{1f1ff}]/gu;
const FULL_WIDTH = /[\uff01-\uff5e]/;

function asAscii(char: string): string {
  return /^[\x20-\x7e]+$/.test(char.normalize('NFKC')) ? escaped(char) : char;
}

const WORD = /[\p{L}\p{M}\p{N}_]+/gu;
const LATIN = /\p{sc=Latin}/u;

/** Small and capital letters that look like Latin ones, by script (from Unicode's confusables.txt). */
const SCRIPTS: readonly { readonly letter: RegExp; readonly alike: RegExp }[] = [
  { letter: /\p{sc=Cyrillic}/u, alike: /[аеорсухіјѕһԁԛԝӏґАВЕКМНОРСТУХІЈЅҺԌԚԜӀ]/u },
  { letter: /\p{sc=Greek}/u, alike: /[οανιρτυχγκϲϳΑΒΕΖΗΙΚΜΝΟΡΤΥΧϹͿ]/u },
  { letter: /\p{sc=Armenian}/u, alike: /[օսոհցքզՕՍԼ]/u },
  { letter: /\p{sc=Cherokee}/u, alike: /\p{sc=Cherokee}/u },
];

function lookAlikes(text: string): string {
  let done = text;
  for (const { letter, alike } of SCRIPTS) {
    const letters = [...done].filter((char) => letter.test(char));
    const genuine = letters.some((char) => !alike.test(char));
    const write = (word: string): string =>
      [...word].map((char) => (letter.test(char) ? escaped(char) : char)).join('');
    if (letters.length > 0) done = done.replace(WORD, (word) => (LATIN.test(word) || !genuine ? write(word) : word));
  }
  return done;
}

const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

function escaped(char: string): string {
  return SHORT[char] ?? `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`;
}
