import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decideEarlyPass, type EarlyPassInput, expectedSteps } from '../../src/compaction/early-pass.ts';
import { costRows, costTable, PRICE_TABLES, totals } from './cost-simulator.ts';

const rows = costRows();

test('docs/compaction.md has the table that this prints', () => {
  const table = costTable(rows);
  console.log(table);
  expect(rows.length).toBeGreaterThan(0);
  const documented = readFileSync(new URL('../../docs/compaction.md', import.meta.url), 'utf8');
  expect(rowsOf(documented)).toEqual(expect.arrayContaining(rowsOf(table)));
});

/** Rows of Markdown tables without the blanks that line them up; the line under the head is left out. */
function rowsOf(markdown: string): string[] {
  const rows = markdown.split('\n').filter((line) => line.startsWith('|') && !line.includes('---'));
  return rows.map((line) => line.replace(/ +/g, ' '));
}

test.each(PRICE_TABLES)('deciding by cost is never dearer than the two fixed rules: $name', ({ name }) => {
  const usd = totals(rows, name);
  expect(usd['when it pays']).toBeLessThanOrEqual(usd['never early'] + 1e-9);
  expect(usd['when it pays']).toBeLessThanOrEqual(usd['always at the ratio'] + 1e-9);
});

test('deciding by cost is cheaper than both fixed rules on at least one table', () => {
  const better = PRICE_TABLES.filter(({ name }) => {
    const usd = totals(rows, name);
    return usd['when it pays'] < Math.min(usd['never early'], usd['always at the ratio']) - 1e-6;
  });
  expect(better.length).toBeGreaterThan(0);
});

const BASE: EarlyPassInput = {
  prices: [{ fromInputTokens: 0, input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 }],
  tokens: 100_000,
  baseTokens: 6000,
  tokensAfter: 25_000,
  summaryTokens: 3000,
  hardThreshold: 110_000,
  stepTokens: 0,
  expected: { steps: 4, perRun: 1, coldShare: 0 },
  warm: true,
  ride: true,
};

test('a warm cache and few steps do not pay for a summary, many steps do', () => {
  expect(decideEarlyPass(BASE).pays).toBe(false);
  expect(decideEarlyPass({ ...BASE, expected: { ...BASE.expected, steps: 60 } }).pays).toBe(true);
});

test('without a cache a few steps pay', () => {
  const prices: EarlyPassInput['prices'] = [{ fromInputTokens: 0, input: 3, output: 15 }];
  expect(decideEarlyPass({ ...BASE, prices }).pays).toBe(true);
});

test('pauses that outlast the cache make it pay sooner', () => {
  expect(decideEarlyPass({ ...BASE, expected: { ...BASE.expected, coldShare: 1 } }).pays).toBe(true);
});

test('what must be compacted two steps later in any case is compacted now', () => {
  const near = { ...BASE, tokens: 107_000, stepTokens: 2000 };
  expect(decideEarlyPass(near).pays).toBe(true);
  expect(decideEarlyPass({ ...near, hardThreshold: 200_000 }).pays).toBe(false);
});

test('the dollars are those of the formula', () => {
  // One step: a summary that reads 100,000 cached tokens and writes 3,000, then 6,000 cached and 19,000 new ones.
  const { earlyUsd, lateUsd } = decideEarlyPass({ ...BASE, expected: { steps: 1, perRun: 1, coldShare: 0 } });
  expect(earlyUsd).toBeCloseTo(0.03 + 0.045 + 0.0018 + 0.07125, 9);
  expect(lateUsd).toBeCloseTo(0.03, 9);
});

test('any input gives finite dollars, and a step more never costs less', () => {
  const price = fc.double({ min: 0, max: 100, noNaN: true });
  const tokens = fc.integer({ min: 1, max: 2_000_000 });
  fc.assert(
    fc.property(
      price,
      price,
      price,
      price,
      tokens,
      tokens,
      fc.integer({ min: 1, max: 60 }),
      fc.boolean(),
      (input, output, cacheRead, cacheWrite, now, after, steps, warm) => {
        const made = (count: number) =>
          decideEarlyPass({
            ...BASE,
            prices: [{ fromInputTokens: 0, input, output, cacheRead, cacheWrite }],
            tokens: now,
            tokensAfter: Math.min(now, after),
            warm,
            stepTokens: 500,
            expected: { steps: count, perRun: 3, coldShare: 0.5 },
          });
        expect(Number.isFinite(made(steps).earlyUsd + made(steps).lateUsd)).toBe(true);
        expect(made(steps + 1).lateUsd).toBeGreaterThanOrEqual(made(steps).lateUsd - 1e-9);
      },
    ),
  );
});

test('a session is expected to last twice as long again, in runs as they were', () => {
  expect(expectedSteps([], 0)).toEqual({ steps: 3, perRun: 1, coldShare: 0 });
  const past = [
    { steps: 1, cold: false },
    { steps: 30, cold: true },
    { steps: 4, cold: true },
    { steps: 5, cold: false },
  ];
  expect(expectedSteps(past, 10)).toEqual({ steps: 100, perRun: 4, coldShare: 0.5 });
});
