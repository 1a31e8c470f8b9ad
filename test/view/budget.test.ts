import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { windowBudget } from '../../src/transcript/budget.ts';
import { calibrate, type EstimateInput, estimateRequest, type TokenAnchor } from '../../src/transcript/token-anchor.ts';

const numRuns = Number(process.env.HOLDFAST_FC_RUNS ?? 1000);

const anyWindow = fc.record({
  window: fc.oneof(fc.integer({ min: 2000, max: 2_000_000 }), fc.constantFrom(2000, 4096, 8192, 128_000, 200_000)),
  outputLimit: fc.option(fc.oneof(fc.integer({ min: 1, max: 4_000_000 }), fc.constantFrom(0, -1, Number.NaN)), {
    nil: undefined,
  }),
  maxOutputTokens: fc.option(fc.integer({ min: 1, max: 4_000_000 }), { nil: undefined }),
});

function given<T extends object>(value: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as never;
}

describe('windowBudget', () => {
  test('every figure is a positive whole number, and they are ordered, for any window and output limit', () => {
    fc.assert(
      fc.property(anyWindow, (input) => {
        const budget = windowBudget(given(input));
        for (const [name, value] of Object.entries(budget)) {
          expect(Number.isInteger(value), name).toBe(true);
          expect(value, name).toBeGreaterThan(0);
        }
        expect(budget.softThreshold).toBeLessThanOrEqual(budget.hardThreshold);
        expect(budget.hardThreshold).toBeLessThanOrEqual(budget.budget);
        expect(budget.keepRecent).toBeLessThan(budget.softThreshold);
        expect(budget.toolOutputCap).toBeLessThanOrEqual(budget.batchCap);
        expect(budget.budget + budget.outputReserve + budget.reserve).toBe(budget.window);
      }),
      { numRuns },
    );
  });

  test('a view of maximal items fits: recent groups, a full batch of outputs, and a protected message', () => {
    fc.assert(
      fc.property(anyWindow, (input) => {
        const { budget, hardThreshold, keepRecent, batchCap } = windowBudget(given(input));
        expect(keepRecent + batchCap + Math.floor(budget / 8)).toBeLessThan(hardThreshold);
      }),
      { numRuns },
    );
  });

  test('settings that make no sense are clamped, never refused', () => {
    fc.assert(
      fc.property(fc.double(), fc.double(), fc.double(), fc.double(), fc.double(), (window, a, b, c, d) => {
        const config = { triggerRatio: a, hardRatio: b, reserveTokens: c, keepRecentTokens: d };
        for (const value of Object.values(windowBudget({ window, config }))) expect(value).toBeGreaterThan(0);
      }),
      { numRuns },
    );
  });

  test('a usual window', () => {
    expect(windowBudget({ window: 200_000, outputLimit: 64_000 })).toEqual({
      window: 200_000,
      outputReserve: 16_000,
      reserve: 2000,
      budget: 182_000,
      softThreshold: 170_000,
      hardThreshold: 182_000,
      keepRecent: 12_000,
      toolOutputCap: 10_000,
      batchCap: 60_666,
    });
  });

  test('an output reserve larger than the window leaves three quarters of it', () => {
    expect(windowBudget({ window: 4096, maxOutputTokens: 16_384 })).toMatchObject({
      outputReserve: 1024,
      budget: 2868,
    });
  });
});

const ANCHOR: TokenAnchor = {
  viewRevision: 'k1/2',
  provider: 'p',
  model: 'm',
  promptHash: 'h',
  coveredItems: 2,
  reportedTokens: 5050,
  estimatedTokens: 4000,
};
const INPUT: EstimateInput = {
  viewRevision: 'k1/2',
  provider: 'p',
  model: 'm',
  promptHash: 'h',
  baseTokens: 1000,
  itemTokens: [1000, 2000, 6000],
  anchor: ANCHOR,
};

describe('estimateRequest', () => {
  test('adds the estimate of what came since to what the provider reported', () => {
    expect(estimateRequest(INPUT)).toEqual({ tokens: 11_050, basis: 'anchor', rawTokens: 10_000 });
  });

  const others: readonly (readonly [string, Partial<EstimateInput>])[] = [
    ['another view revision', { viewRevision: 'k1/3' }],
    ['another provider', { provider: 'q' }],
    ['another model', { model: 'n' }],
    ['other system prompt or tools', { promptHash: 'g' }],
    ['fewer items than the report covers', { itemTokens: [9000] }],
    ['zero usage', { anchor: { ...ANCHOR, reportedTokens: 0 } }],
    ['usage below half of the estimate', { anchor: { ...ANCHOR, reportedTokens: 1999 } }],
    ['usage that is no number', { anchor: { ...ANCHOR, reportedTokens: Number.NaN } }],
  ];
  test.each(others)('counts no anchor with %s', (_, change) => {
    expect(estimateRequest({ ...INPUT, ...change })).toMatchObject({ tokens: 10_000, basis: 'estimate' });
  });

  test('is corrected by the factor of the model, within 0.5 to 2', () => {
    const { anchor: _, ...free } = INPUT;
    expect([0.1, 0.8, 3].map((calibration) => estimateRequest({ ...free, calibration }).tokens)).toEqual([
      5000, 8000, 20_000,
    ]);
    expect(estimateRequest({ ...INPUT, calibration: 0.8 }).tokens).toBe(5050 + 4800);
  });
});

describe('calibrate', () => {
  test('comes nearer to a steady ratio with every report, and never leaves 0.5 to 2', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0.5, max: 4, noNaN: true }),
        fc.double({ min: 0.1, max: 5, noNaN: true }),
        (ratio, start) => {
          let factor = calibrate(start, 1000 * ratio, 1000);
          for (let i = 0; i < 60; i += 1) factor = calibrate(factor, 1000 * ratio, 1000);
          expect(factor).toBeCloseTo(Math.min(2, ratio), 3);
        },
      ),
      { numRuns },
    );
  });

  test('the first report counts in full; unknown and tiny ones change nothing', () => {
    expect(calibrate(undefined, 1500, 1000)).toBe(1.5);
    expect(calibrate(1.2, 0, 1000)).toBe(1.2);
    expect(calibrate(1.2, 499, 1000)).toBe(1.2);
    expect(calibrate(1.2, Number.NaN, 1000)).toBe(1.2);
    expect(calibrate(undefined, 150, 100)).toBe(1);
    expect(calibrate(1, 2000, 1000)).toBeCloseTo(1.2);
  });
});
