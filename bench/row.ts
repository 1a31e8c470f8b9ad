/** One measured figure. `value` is the median where `n` > 1. */
export interface BenchRow {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  readonly n: number;
  readonly min: number;
  readonly max: number;
}

export function rowOf(name: string, unit: string, samples: readonly number[], value?: number): BenchRow {
  const sorted = [...samples].sort((a, b) => a - b);
  const middle = sorted[Math.floor((sorted.length - 1) / 2)] ?? Number.NaN;
  const upper = sorted[Math.ceil((sorted.length - 1) / 2)] ?? Number.NaN;
  return {
    name,
    value: round(value ?? (middle + upper) / 2),
    unit,
    n: samples.length,
    min: round(sorted[0] ?? Number.NaN),
    max: round(sorted.at(-1) ?? Number.NaN),
  };
}

/** The p-th percentile, by nearest rank. */
export function percentile(samples: readonly number[], p: number): number {
  const sorted = [...samples].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil((p / 100) * sorted.length) - 1)] ?? Number.NaN;
}

function round(value: number): number {
  return Number(value.toPrecision(5));
}
