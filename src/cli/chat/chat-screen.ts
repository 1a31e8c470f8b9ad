import { type Flow, STYLE } from '../render/screen.ts';
import { visible } from '../render/visible.ts';
import { cells, charactersOf, fitting } from './cells.ts';

const ESC = '\u001b';
const CLEAR_BELOW = `${ESC}[J`;
const SAVE_CURSOR = `${ESC}7`;
const RESTORE_CURSOR = `${ESC}8`;

const PROMPT = '> ';

export interface ChatScreenOptions {
  readonly write: (text: string) => void;
  readonly columns: () => number;
  readonly colour: boolean;
  /** What is being typed, in so many cells. */
  readonly typed: (columns: number) => { readonly before: string; readonly after: string };
}

/**
 * A flow of text, and below it what changes in place: the line of the flow that is not finished, what goes on, and the
 * line that is being typed. Each of these is one row, so that it is always known how many to take away again.
 */
export class ChatScreen implements Flow {
  readonly #options: ChatScreenOptions;
  #unfinished = '';
  #status = '';
  /** Rows above the one that the cursor stands in. */
  #above = 0;
  #open = true;

  constructor(options: ChatScreenOptions) {
    this.#options = options;
  }

  /** Text from outside, made harmless, where the flow stands. */
  flow(text: string): void {
    const safe = visible(text);
    if (safe === '') return;
    const rows = `${this.#unfinished}${safe}`.split('\n').flatMap((line) => this.#rowsOf(line));
    this.#unfinished = rows.pop() ?? '';
    this.#draw(rows);
  }

  /** A line of our own, at the start of a line. The text must be harmless already. */
  line(text: string, style?: keyof typeof STYLE): void {
    this.#draw([...this.#takeUnfinished(), this.styled(text, style)]);
  }

  freshLine(): void {
    const rows = this.#takeUnfinished();
    if (rows.length > 0) this.#draw(rows);
  }

  /** Replaces what is told of what goes on; empty text takes it away. The text must be harmless already. */
  status(text: string): void {
    if (text === this.#status) return;
    this.#status = text;
    this.#draw();
  }

  /** Takes back `text` where all of it still stands in the unfinished line; else returns false. */
  takeBack(text: string): boolean {
    if (visible(text) !== this.#unfinished) return false;
    this.#unfinished = '';
    this.#draw();
    return true;
  }

  styled(text: string, style?: keyof typeof STYLE): string {
    if (style === undefined || !this.#options.colour || text === '') return text;
    const [open, close] = STYLE[style];
    return `${open}${text}${close}`;
  }

  /** Shows what is being typed as it is now. */
  refresh(): void {
    this.#draw();
  }

  /** Leaves the flow alone on the screen, and the cursor below it. */
  close(): void {
    this.#status = '';
    this.#draw(this.#takeUnfinished());
    this.#options.write(`\r${CLEAR_BELOW}`);
    this.#open = false;
  }

  #takeUnfinished(): readonly string[] {
    const rows = this.#unfinished === '' ? [] : [this.#unfinished];
    this.#unfinished = '';
    return rows;
  }

  /** Adds finished lines to the flow and draws anew what stands below it. */
  #draw(finished: readonly string[] = []): void {
    if (!this.#open) return;
    const columns = this.#options.columns() - 1;
    const up = this.#above === 0 ? '' : `${ESC}[${this.#above}A`;
    const below = [
      ...(this.#unfinished === '' ? [] : [this.#unfinished]),
      ...(this.#status === '' ? [] : [this.styled(fitting(this.#status, columns), 'dim')]),
    ];
    const { before, after } = this.#options.typed(columns - PROMPT.length);
    // A cursor in the middle of a line is put there by the terminal: only it knows how wide characters are.
    const typed = after === '' ? before : `${before}${SAVE_CURSOR}${after}${RESTORE_CURSOR}`;
    const rows = [...finished, ...below].map((row) => `${row}\n`).join('');
    this.#options.write(`${up}\r${CLEAR_BELOW}${rows}${this.styled(PROMPT, 'bold')}${typed}`);
    this.#above = below.length;
  }

  /** A line in rows that fit, broken at spaces where it has some. */
  #rowsOf(line: string): string[] {
    const rows: string[] = [];
    let row: string[] = [];
    let left = this.#options.columns() - 1;
    for (const character of charactersOf(line)) {
      if (cells(character) > left) {
        const space = row.lastIndexOf(' ');
        const end = space > 0 ? space + 1 : row.length;
        rows.push(row.slice(0, end).join('').trimEnd());
        row = row.slice(end);
        left = this.#options.columns() - 1 - row.reduce((sum, each) => sum + cells(each), 0);
      }
      row.push(character);
      left -= cells(character);
    }
    return [...rows, row.join('')];
  }
}
