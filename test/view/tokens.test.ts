import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { describe, expect, test } from 'vitest';
import { textTokens } from '../../src/transcript/text-tokens.ts';
import { CORPUS_CLASSES, windowsOf } from './corpus.ts';

function quantile(values: readonly number[], q: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? Number.NaN;
}

describe('the fitted estimate against o200k on text that nothing was fitted on', () => {
  const errors = new Map(
    CORPUS_CLASSES.map((cls) => {
      return [cls, windowsOf(cls).map((window) => textTokens(window) / countTokens(window) - 1)] as const;
    }),
  );

  test('every class weighing the same, the median error is at most 10 % and the 95th percentile at most 25 %', () => {
    const all: number[] = [];
    for (const [cls, list] of errors) {
      const absolute = list.map(Math.abs);
      const bias = list.reduce((sum, error) => sum + error, 0) / list.length;
      const figures = [quantile(absolute, 0.5), quantile(absolute, 0.95), bias].map((x) => `${(x * 100).toFixed(1)} %`);
      console.log(`${cls}: ${list.length} windows, median ${figures[0]}, p95 ${figures[1]}, bias ${figures[2]}`);
      // Sixty samples a class, evenly spread: classes with more text do not drown the others.
      for (let at = 0; at < 60; at += 1) all.push(absolute[Math.floor((at * absolute.length) / 60)] ?? Number.NaN);
    }
    console.log(
      `all: median ${(quantile(all, 0.5) * 100).toFixed(1)} %, p95 ${(quantile(all, 0.95) * 100).toFixed(1)} %`,
    );
    expect(quantile(all, 0.5)).toBeLessThanOrEqual(0.1);
    expect(quantile(all, 0.95)).toBeLessThanOrEqual(0.25);
  });

  test.each(CORPUS_CLASSES)('%s by itself stays within 25 % at the 95th percentile', (cls) => {
    const list = errors.get(cls) ?? [];
    expect(list.length).toBeGreaterThanOrEqual(2);
    expect(quantile(list.map(Math.abs), 0.95)).toBeLessThanOrEqual(0.25);
  });
});
