import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { EXIT_OF_ERROR } from '../../src/cli/exit-codes.ts';
import { failureOf, failureText } from '../../src/cli/failure.ts';
import { HoldfastError } from '../../src/contract/errors.ts';
import { DevServerError } from '../../src/devserver/errors.ts';
import { StoreError } from '../../src/store/errors.ts';

// Pins: scripts out there test these numbers.
test.each([
  ['ProviderFailed', 1],
  ['InvalidInput', 2],
  ['MissingKey', 2],
  ['TemporalUnavailable', 3],
  ['NoWorker', 3],
  ['SessionBusy', 4],
  ['NotFound', 4],
  ['Internal', 70],
] as const)('%s ends with %i', (code, exitCode) => {
  expect(failureOf(new HoldfastError(code, 'x')).exitCode).toBe(exitCode);
});

test('the manual lists every error beside its exit code', () => {
  const manual = readFileSync(join(import.meta.dirname, '../../docs/cli.md'), 'utf8');
  const rows = new Map([...manual.matchAll(/^\|\s*(\d+)\s*\|.*$/gm)].map(([row, code]) => [Number(code), row]));
  for (const [error, code] of Object.entries(EXIT_OF_ERROR)) {
    expect(rows.get(code), `${error} in the row of ${code}`).toContain(`\`${error}\``);
  }
});

describe('an error as text', () => {
  const error = new HoldfastError('NotFound', 'no run is called "\u001b[2Jx"', { cause: new Error('deeper') });

  test('is a sentence and an advice, harmless to the terminal', () => {
    expect(failureText(error, false)).toBe(
      'Error: no run is called "\\u{1b}[2Jx".\nList what there is with `holdfast sessions`.\n',
    );
  });

  test('has its stack and its cause only when asked', () => {
    expect(failureText(error, false)).not.toMatch(/\bat \S+:\d+/);
    expect(failureText(error, true)).toMatch(/\bat .*caused by Error: deeper/s);
  });
});

test.each([
  [new StoreError('StoreTooNew', 'm', 'h'), 4],
  [new StoreError('StoreUnavailable', 'm', 'h'), 3],
  [new DevServerError('no_binary', 'm', 'h'), 3],
  [new TypeError('a bug'), 70],
  ['thrown text', 70],
])('%s', (error, exitCode) => {
  expect(failureOf(error).exitCode).toBe(exitCode);
});
