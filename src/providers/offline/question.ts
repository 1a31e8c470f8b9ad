import { CONCEPTS, STOP_WORDS, WEAK_WORDS } from './concepts.ts';

/** Something the question names, as it is looked for in files. */
export interface Term {
  /** The word as it was asked. */
  readonly word: string;
  /** Source of a regular expression to be matched without regard to case, with or without the flag `u`. */
  readonly pattern: string;
  /** Worth of one match; identifiers are worth more than common words. */
  readonly weight: number;
}

/** More terms than this only blur the answer. */
const MAX_TERMS = 5;

/** The terms worth searching for, most telling first; empty when the question names nothing. */
export function salientTerms(question: string): readonly Term[] {
  const terms = new Map<string, Term>();
  for (const word of wordsOf(question)) {
    const term = termOf(word);
    if (term !== undefined && !terms.has(term.pattern)) terms.set(term.pattern, term);
  }
  return [...terms.values()].sort((a, b) => b.weight - a.weight).slice(0, MAX_TERMS);
}

/** Identifiers, paths and quoted texts stay whole; everything else is cut into words, also where a script has no spaces. */
function wordsOf(question: string): readonly string[] {
  const whole: string[] = [];
  const rest = question.replace(
    /`([^`\n]{2,80})`|"([^"\n]{2,80})"|[\w./-]*[A-Za-z0-9][_./-][A-Za-z0-9][\w/-]*|\b[a-z]+[A-Z]\w*|\b[A-Z]\w*[a-z][A-Z]\w*/g,
    (match, tick, quote) => {
      whole.push(tick ?? quote ?? match);
      return ' ';
    },
  );
  const known = CONCEPTS.flatMap(({ words }) => words.filter((word) => CJK.test(word) && rest.includes(word)));
  const segments = [...new Intl.Segmenter('und', { granularity: 'word' }).segment(rest)];
  const plain = segments.filter((segment) => segment.isWordLike === true).map((segment) => segment.segment);
  return [...whole, ...known, ...plain.filter((word) => !known.some((concept) => concept.includes(word)))];
}

const CJK = /[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]/u;
const IDENTIFIER = /[_./-]|[a-z][A-Z]/;

function termOf(word: string): Term | undefined {
  const lower = word.toLowerCase();
  if (IDENTIFIER.test(word) || word.includes(' ')) return { word, pattern: escaped(word), weight: 3 };
  if (STOP_WORDS.has(lower) || WEAK_WORDS.some((weak) => lower.startsWith(weak))) return undefined;
  const concept = CONCEPTS.find(({ words }) => words.some((start) => begins(lower, start)));
  if (concept !== undefined) {
    const own =
      /^[a-z]+$/.test(lower) && !concept.code.some((code) => lower.startsWith(code)) ? [...inflections(lower)] : [];
    const foreign = CJK.test(lower) ? [escaped(lower)] : [];
    return { word, pattern: [...concept.code, ...own, ...foreign].map(bounded).join('|'), weight: 1.5 };
  }
  if (lower.length < 2 && !CJK.test(lower)) return undefined;
  const weight = 1 + Math.min(lower.length, 12) / 12;
  return { word, pattern: [...inflections(lower)].map(escaped).map(bounded).join('|'), weight };
}

/** Very short Latin and Cyrillic words stand for themselves only: `logic` is not about logs. */
function begins(word: string, start: string): boolean {
  if (start.length > 3 || CJK.test(start)) return word.startsWith(start);
  return word === start || word === `${start}s`;
}

/** Light stemming: what a reader would type into a search box to find all forms of an English word. */
function inflections(word: string): ReadonlySet<string> {
  if (!/^[a-z]{4,}$/.test(word)) return new Set([word]);
  if (word.endsWith('ies')) return new Set([`${word.slice(0, -3)}y`, word]);
  if (word.endsWith('y')) return new Set([word, `${word.slice(0, -1)}ies`, `${word.slice(0, -1)}ied`]);
  const stem = word.replace(/(?:ations?|ing|ed|es|s)$/, '');
  return new Set([stem.length >= 4 ? stem : word]);
}

/** Short Latin words count only at the beginning of a word: `log` must not find `catalog`. */
function bounded(pattern: string): string {
  return /^[a-z]{1,4}$/.test(pattern) ? `\\b${pattern}` : pattern;
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}
