/**
 * What a person sees: a terminal of some width that knows what our screen uses (line feed, carriage return, clear line,
 * clear below, cursor up, save and restore the cursor, colours) and refuses everything else, so that an escape from outside
 * cannot pass unseen.
 */
export class Terminal {
  readonly columns: number;
  #rows: string[][] = [[]];
  #row = 0;
  #column = 0;
  #saved: readonly [number, number] = [0, 0];

  constructor(columns = 60) {
    this.columns = columns;
  }

  write(text: string): void {
    for (let at = 0; at < text.length; ) {
      // biome-ignore lint/suspicious/noControlCharactersInRegex: a terminal's language is made of them.
      const sequence = /^\u001b\[(\d*)([AKJm])/.exec(text.slice(at));
      if (sequence !== null) {
        this.#obey(sequence[2] ?? '', Number(sequence[1] === '' ? 1 : sequence[1]));
        at += sequence[0].length;
        continue;
      }
      if (text.startsWith('\u001b7', at) || text.startsWith('\u001b8', at)) {
        if (text[at + 1] === '7') this.#saved = [this.#row, this.#column];
        else [this.#row, this.#column] = this.#saved;
        at += 2;
        continue;
      }
      const character = String.fromCodePoint(text.codePointAt(at) ?? 0);
      this.#put(character);
      at += character.length;
    }
  }

  /** The screen's rows, without blanks at their ends. */
  rows(): readonly string[] {
    return this.#rows.map((row) =>
      Array.from(row, (cell) => cell ?? ' ')
        .join('')
        .trimEnd(),
    );
  }

  text(): string {
    return this.rows().join('\n').trimEnd();
  }

  #put(character: string): void {
    if (character === '\r') this.#column = 0;
    else if (character === '\n') this.#down();
    else if (character === '\t') this.#column = Math.min(this.columns - 1, (Math.floor(this.#column / 8) + 1) * 8);
    else if (character < ' ' || (character >= '\u007f' && character < '\u00a0')) {
      throw new Error(`a control character reached the terminal: ${JSON.stringify(character)}`);
    } else {
      if (this.#column === this.columns) this.#down();
      const row = this.#rows[this.#row] ?? [];
      row[this.#column] = character;
      this.#rows[this.#row] = row;
      this.#column += 1;
    }
  }

  #down(): void {
    this.#row += 1;
    this.#column = 0;
    this.#rows[this.#row] ??= [];
  }

  #obey(command: string, count: number): void {
    if (command === 'A') this.#row = Math.max(0, this.#row - count);
    if (command === 'K') this.#rows[this.#row] = [];
    if (command === 'J')
      this.#rows = [...this.#rows.slice(0, this.#row), (this.#rows[this.#row] ?? []).slice(0, this.#column)];
  }
}
