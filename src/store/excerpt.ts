import { wellFormed } from '../transcript/well-formed.ts';
import { caseFolded } from './case-fold.ts';

/** Characters (UTF-16 units) of an excerpt at most. */
const MAX_EXCERPT = 300;
/** How many of them stand before the match. */
const BEFORE = 100;

/** The text around the first of `words`, folded ones, on one line. */
export function excerptOf(text: string, words: readonly string[]): string {
  const shown = text.normalize('NFC');
  const at = unfoldedAt(shown, firstOf(caseFolded(shown), words));
  const start = Math.max(0, at - BEFORE);
  // One mark on each side at most.
  const end = Math.min(shown.length, start + MAX_EXCERPT - 2);
  const line = wellFormed(trimmedPairs(shown, start, end))
    .replace(/\s+/gu, ' ')
    .trim();
  return `${start > 0 ? '…' : ''}${line}${end < shown.length ? '…' : ''}`;
}

function firstOf(folded: string, words: readonly string[]): number {
  const found = words.map((word) => folded.indexOf(word)).filter((at) => at >= 0);
  return found.length === 0 ? 0 : Math.min(...found);
}

/** Where in a text the position of its folded form is: the two differ in length where one letter folds to several. */
function unfoldedAt(text: string, position: number): number {
  let folded = 0;
  let at = 0;
  for (const char of text) {
    if (folded >= position) break;
    folded += caseFolded(char).length;
    at += char.length;
  }
  return at;
}

/** The slice without halves of surrogate pairs at its ends. */
function trimmedPairs(text: string, start: number, end: number): string {
  const from = isLow(text, start) ? start + 1 : start;
  return text.slice(from, isLow(text, end) ? end - 1 : end);
}

function isLow(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code >= 0xdc00 && code <= 0xdfff;
}
