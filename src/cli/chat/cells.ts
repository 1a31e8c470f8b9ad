const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

/** What a person sees as single characters. */
export function charactersOf(text: string): string[] {
  return Array.from(graphemes.segment(text), ({ segment }) => segment);
}

/** Cells that a character may take on a terminal: never fewer than it does. */
export function cells(character: string): number {
  const code = character.codePointAt(0) ?? 0;
  return code < 0x1100 || (code >= 0x2000 && code < 0x2600) ? 1 : 2;
}

/** The beginning of a text that fits. */
export function fitting(text: string, columns: number): string {
  let left = columns;
  const characters = charactersOf(text);
  const end = characters.findIndex((character) => {
    left -= cells(character);
    return left < 0;
  });
  return end < 0 ? text : characters.slice(0, end).join('');
}
