import { jsonRenderer } from './render/loop-events.ts';
import { ndjsonRenderer } from './render/ndjson.ts';
import { plainRenderer } from './render/plain.ts';
import { prettyRenderer } from './render/pretty.ts';
import type { Renderer, Sinks } from './render/renderer.ts';
import { Screen } from './render/screen.ts';

export const OUTPUTS = ['pretty', 'json', 'ndjson'] as const;
export type Output = (typeof OUTPUTS)[number];

const sinks: Sinks = {
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
};

/** Renderer of a run's events. Without a wish: pretty where a person looks, else the answer as plain text. */
export function rendererFor(output: Output | undefined): Renderer {
  const { stdout } = process;
  const now = (): number => performance.now();
  switch (output) {
    case 'json':
      return jsonRenderer(sinks);
    case 'ndjson':
      return ndjsonRenderer(sinks);
    case 'pretty':
    case undefined: {
      if (!stdout.isTTY) return plainRenderer(sinks, now);
      const colour = (process.env.NO_COLOR ?? '') === '' && process.env.TERM !== 'dumb';
      const screen = new Screen(sinks.out, () => stdout.columns, colour);
      return prettyRenderer({ screen, now, rows: () => stdout.rows });
    }
  }
}

/** Prints rows as the format has it: one JSON array, one JSON line each, or `text` for people. */
export function printRows<T>(
  output: Output | undefined,
  rows: readonly T[],
  text: (rows: readonly T[]) => string,
): void {
  switch (output) {
    case 'json':
      printJson(rows);
      break;
    case 'ndjson':
      sinks.out(rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
      break;
    case 'pretty':
    case undefined:
      sinks.out(text(rows));
      break;
  }
}

/** One JSON value on one line. */
export function printJson(value: unknown): void {
  sinks.out(`${JSON.stringify(value)}\n`);
}

/** Columns aligned, two spaces between; the cells must be harmless and on one line. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...all.map((row) => (row[column] ?? '').length)));
  return all
    .map(
      (row) =>
        `${row
          .map((cell, column) => cell.padEnd(widths[column] ?? 0))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('');
}
