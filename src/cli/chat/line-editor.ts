import { cells, charactersOf } from './cells.ts';

/** A key as `readline.emitKeypressEvents` tells of it. */
export interface Key {
  readonly name?: string | undefined;
  readonly ctrl?: boolean | undefined;
  readonly meta?: boolean | undefined;
}

/** What came of a key. */
export type Keyed =
  | { readonly kind: 'edited' }
  | { readonly kind: 'entered'; readonly text: string }
  /** Ctrl-C. */
  | { readonly kind: 'interrupt' }
  /** Ctrl-D on an empty line. */
  | { readonly kind: 'leave' };

const EDITED: Keyed = { kind: 'edited' };

/** The line that is being typed: its text, where the cursor stands in it, and the lines before. */
export class LineEditor {
  #before: string[] = [];
  #after: string[] = [];
  #pasting = false;
  readonly #history: string[] = [];
  /** Where in the history we are; its length: at the line that is being typed. */
  #at = 0;
  #draft = '';

  get text(): string {
    return [...this.#before, ...this.#after].join('');
  }

  key(typed: string | undefined, { name = '', ctrl = false, meta = false }: Key): Keyed {
    if (name === 'paste-start' || name === 'paste-end') this.#pasting = name === 'paste-start';
    else if (name === 'return' || name === 'enter') {
      // What is pasted is one message, however many lines it has; Alt-Enter begins a line.
      if (!this.#pasting && !meta) return this.#entered();
      this.#insert('\n');
    } else if (this.#pasting) this.#insert(typed ?? '');
    else if (ctrl) return this.#control(name);
    else this.#plain(name, meta, typed);
    return EDITED;
  }

  /** What to show of the line in so many cells, before and after the cursor. */
  shown(columns: number): { readonly before: string; readonly after: string } {
    const room = Math.max(4, columns);
    const before = fromEnd(this.#before.map(glyph), room - 2);
    const after = fromStart(this.#after.map(glyph), room - width(before));
    return { before: before.join(''), after: after.join('') };
  }

  #entered(): Keyed {
    const text = this.text;
    this.#set('');
    if (text.trim() !== '' && text !== this.#history.at(-1)) this.#history.push(text);
    this.#at = this.#history.length;
    this.#draft = '';
    return { kind: 'entered', text };
  }

  #control(name: string): Keyed {
    if (name === 'c') return { kind: 'interrupt' };
    if (name === 'd' && this.text === '') return { kind: 'leave' };
    CONTROLS[name]?.(this);
    return EDITED;
  }

  #plain(name: string, meta: boolean, typed: string | undefined): void {
    const move = MOVES[name];
    if (move !== undefined) move(this);
    else if (!meta) this.#insert(typed ?? '');
  }

  #insert(text: string): void {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: keys without a character of their own are no text.
    const clean = text.replace(/\r\n?/g, '\n').replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '');
    if (clean !== '') this.#before = charactersOf(`${this.#before.join('')}${clean}`);
  }

  #set(text: string): void {
    this.#before = charactersOf(text);
    this.#after = [];
  }

  backspace(): void {
    this.#before.pop();
  }

  delete(): void {
    this.#after.shift();
  }

  /** Moves the cursor by so many characters, to the left where negative. */
  move(by: number): void {
    const all = [...this.#before, ...this.#after];
    const at = Math.min(all.length, Math.max(0, this.#before.length + by));
    this.#before = all.slice(0, at);
    this.#after = all.slice(at);
  }

  killBefore(): void {
    this.#before = [];
  }

  killAfter(): void {
    this.#after = [];
  }

  killWord(): void {
    this.#before = charactersOf(this.#before.join('').replace(/\S+\s*$|\s+$/u, ''));
  }

  /** Goes to an earlier line (-1) or a later one (1); what was being typed is kept. */
  recall(by: number): void {
    const at = Math.min(this.#history.length, Math.max(0, this.#at + by));
    if (at === this.#at) return;
    if (this.#at === this.#history.length) this.#draft = this.text;
    this.#at = at;
    this.#set(this.#history[at] ?? this.#draft);
  }
}

type Action = (editor: LineEditor) => void;
const FAR = Number.MAX_SAFE_INTEGER;

const MOVES: Readonly<Record<string, Action>> = {
  backspace: (editor) => editor.backspace(),
  delete: (editor) => editor.delete(),
  left: (editor) => editor.move(-1),
  right: (editor) => editor.move(1),
  home: (editor) => editor.move(-FAR),
  end: (editor) => editor.move(FAR),
  up: (editor) => editor.recall(-1),
  down: (editor) => editor.recall(1),
};

const CONTROLS: Readonly<Record<string, Action>> = {
  a: (editor) => editor.move(-FAR),
  e: (editor) => editor.move(FAR),
  b: (editor) => editor.move(-1),
  f: (editor) => editor.move(1),
  d: (editor) => editor.delete(),
  h: (editor) => editor.backspace(),
  k: (editor) => editor.killAfter(),
  u: (editor) => editor.killBefore(),
  w: (editor) => editor.killWord(),
  p: (editor) => editor.recall(-1),
  n: (editor) => editor.recall(1),
};

function glyph(character: string): string {
  if (character === '\n') return '⏎';
  return character === '\t' ? ' ' : character;
}

function width(characters: readonly string[]): number {
  return characters.reduce((sum, character) => sum + cells(character), 0);
}

/** The last characters that fit, after a mark where some are missing. */
function fromEnd(characters: readonly string[], room: number): readonly string[] {
  if (width(characters) <= room) return characters;
  return ['…', ...fromStart(characters.toReversed(), room - 1).toReversed()];
}

function fromStart(characters: readonly string[], room: number): readonly string[] {
  let left = room;
  const end = characters.findIndex((character) => {
    left -= cells(character);
    return left < 0;
  });
  return end < 0 ? characters : characters.slice(0, end);
}
