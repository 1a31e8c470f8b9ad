import { visible } from './visible.ts';

const ESC = '\u001b[';
const CLEAR_LINE = `\r${ESC}2K`;

export const STYLE: Readonly<Record<'dim' | 'red' | 'green' | 'yellow' | 'bold', readonly [string, string]>> = {
  dim: [`${ESC}2m`, `${ESC}22m`],
  bold: [`${ESC}1m`, `${ESC}22m`],
  red: [`${ESC}31m`, `${ESC}39m`],
  green: [`${ESC}32m`, `${ESC}39m`],
  yellow: [`${ESC}33m`, `${ESC}39m`],
};

/** What a run is shown on. */
export type Flow = Pick<Screen, keyof Screen>;

/**
 * A terminal with a flow of text and, below it, one line that changes in place.
 *
 * The status line shows only while the flow stands at the start of a line; text that is streamed pushes it away.
 */
export class Screen {
  readonly #write: (text: string) => void;
  readonly #columns: () => number;
  readonly #colour: boolean;
  #atLineStart = true;
  #status = '';

  constructor(write: (text: string) => void, columns: () => number, colour: boolean) {
    this.#write = write;
    this.#columns = columns;
    this.#colour = colour;
  }

  /** Text from outside, made harmless, where the flow stands. */
  flow(text: string): void {
    const safe = visible(text);
    if (safe === '') return;
    this.#clearStatus();
    this.#write(safe);
    this.#atLineStart = safe.endsWith('\n');
  }

  /** A line of our own, at the start of a line. The text must be harmless already. */
  line(text: string, style?: keyof typeof STYLE): void {
    this.freshLine();
    this.#clearStatus();
    this.#write(`${this.styled(text, style)}\n`);
  }

  /** Goes to the start of a line, unless there already. */
  freshLine(): void {
    if (this.#atLineStart) return;
    this.#write('\n');
    this.#atLineStart = true;
  }

  /** Replaces the status line; empty text takes it away. The text must be harmless already. */
  status(text: string): void {
    if (!this.#atLineStart) return;
    const fitted = clipped(text, this.#columns() - 1);
    if (fitted === this.#status) return;
    this.#write(`${CLEAR_LINE}${this.styled(fitted, 'dim')}`);
    this.#status = fitted;
  }

  /** Takes back `text`, the last that flowed, when it is certain how many rows it fills; else returns false. */
  takeBack(text: string, rows: number): boolean {
    const safe = visible(text);
    if (!/^[\x20-\x7e\n]*$/.test(safe)) return false;
    const columns = this.#columns();
    const lines = safe.split('\n');
    const height = lines.reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / columns)), 0);
    // A line that exactly fills its row leaves the cursor where terminals differ.
    if (height >= rows || lines.some((line) => line.length > 0 && line.length % columns === 0)) return false;
    this.#clearStatus();
    this.#write(`${height > 1 ? `${ESC}${height - 1}A` : ''}\r${ESC}J`);
    this.#atLineStart = true;
    return true;
  }

  styled(text: string, style?: keyof typeof STYLE): string {
    if (style === undefined || !this.#colour || text === '') return text;
    const [open, close] = STYLE[style];
    return `${open}${text}${close}`;
  }

  #clearStatus(): void {
    if (this.#status === '') return;
    this.#write(CLEAR_LINE);
    this.#status = '';
  }
}

/** At most `columns` cells, counting every character outside ASCII as two, so that the line never wraps. */
function clipped(text: string, columns: number): string {
  let cells = 0;
  let fitted = '';
  for (const character of text) {
    cells += character < '\u007f' || '·…⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏'.includes(character) ? 1 : 2;
    if (cells > columns - 1) return `${fitted}…`;
    fitted += character;
  }
  return fitted;
}
