/**
 * A text in which case and Unicode forms no longer tell words apart. The round by upper case folds what has no lower
 * case of its own (`ß` and `SS`, `ſ` and `s`); the two small sigmas are one letter.
 */
export function caseFolded(text: string): string {
  return text.normalize('NFC').toLowerCase().toUpperCase().toLowerCase().replaceAll('ς', 'σ');
}

/** The words of a query, each once: what white space divides. */
export function wordsOf(query: string): readonly string[] {
  return [...new Set(caseFolded(query).split(/\s+/u))].filter((word) => word !== '');
}

/** Whether a folded text holds all of these words, wherever they stand in it. */
export function holdsAll(folded: string, words: readonly string[]): boolean {
  return words.every((word) => folded.includes(word));
}
