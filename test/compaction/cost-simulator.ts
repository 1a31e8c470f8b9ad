import { decideEarlyPass, expectedSteps, type PastRun } from '../../src/compaction/early-pass.ts';
import type { PriceTier } from '../../src/providers/catalog.ts';
import { windowBudget } from '../../src/transcript/budget.ts';

/** When a compaction comes before the hard threshold. */
export type EarlyPolicy = 'never early' | 'always at the ratio' | 'when it pays';
export const EARLY_POLICIES: readonly EarlyPolicy[] = ['never early', 'always at the ratio', 'when it pays'];

export interface PriceTable {
  readonly name: string;
  readonly prices: PriceTier;
  /** Whether a repeated prefix is billed apart at all. */
  readonly caches: boolean;
}

/** Dollars per million tokens. */
export const PRICE_TABLES: readonly PriceTable[] = [
  {
    name: 'cache write 1.25×, read 0.1×',
    prices: { fromInputTokens: 0, input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 },
    caches: true,
  },
  {
    name: 'cache write free, read 0.5×',
    prices: { fromInputTokens: 0, input: 2.5, output: 10, cacheRead: 1.25 },
    caches: true,
  },
  {
    name: 'cache write free, read 0.1×',
    prices: { fromInputTokens: 0, input: 1.25, output: 10, cacheRead: 0.125 },
    caches: true,
  },
  { name: 'no cache', prices: { fromInputTokens: 0, input: 0.5, output: 1.5 }, caches: false },
];

export interface Workload {
  readonly name: string;
  readonly runs: readonly Run[];
  /** How often it happens; default 1. */
  readonly sessions?: number;
}

interface Run {
  /** Model calls. */
  readonly steps: number;
  /** Tokens that each call adds. */
  readonly stepTokens: number;
  /** The pause before it is longer than the provider's cache lives. */
  readonly cold?: boolean;
  /** Tokens of its message, where that is a large one. */
  readonly message?: number;
}

function runs(times: number, of: (run: number) => Run): readonly Run[] {
  return Array.from({ length: times }, (_, run) => of(run));
}

export const WORKLOADS: readonly Workload[] = [
  { name: 'short questions, no pause', runs: runs(300, () => ({ steps: 1, stepTokens: 900 })) },
  { name: 'short questions, hours apart', runs: runs(150, () => ({ steps: 1, stepTokens: 900, cold: true })) },
  { name: 'three steps a question', runs: runs(120, (run) => ({ steps: 3, stepTokens: 700, cold: run % 3 === 0 })) },
  {
    name: 'a large document, two questions: twenty sessions',
    sessions: 20,
    runs: runs(3, (run) => ({ steps: 1, stepTokens: 300, ...(run === 0 ? { message: 85_500 } : {}) })),
  },
  {
    name: 'a large document, forty questions',
    runs: runs(41, (run) => ({ steps: 1, stepTokens: 100, ...(run === 0 ? { message: 84_500 } : {}) })),
  },
  {
    name: 'a long task, then remarks',
    runs: runs(8, (run) => (run === 0 ? { steps: 70, stepTokens: 1210 } : { steps: 1, stepTokens: 250 })),
  },
  { name: 'tasks of forty steps', runs: runs(12, (run) => ({ steps: 40, stepTokens: 450, cold: run % 2 === 1 })) },
  { name: 'tasks of forty small steps', runs: runs(60, () => ({ steps: 40, stepTokens: 60 })) },
  {
    name: 'mixed',
    runs: runs(72, (run) => ({ steps: [1, 12, 2, 30, 1, 5][run % 6] ?? 1, stepTokens: 800, cold: run % 4 === 0 })),
  },
];

const WINDOW = windowBudget({ window: 128_000 });
const BASE = 6000;
const AFTER = 26_000;
const SUMMARY = 3000;
const ANSWER = 300;

/**
 * Dollars that a workload costs, billed call by call as a provider bills it: the prefix it holds at its cache price, the
 * rest at its write price. Written apart from the decision that it checks.
 */
export function workloadUsd(workload: Workload, table: PriceTable, policy: EarlyPolicy): number {
  const { prices, caches } = table;
  const read = caches ? (prices.cacheRead ?? prices.input) : prices.input;
  const write = caches ? (prices.cacheWrite ?? prices.input) : prices.input;
  let size = 20_000;
  let held = 0;
  let total = 0;
  const past: PastRun[] = [];
  let grown = 0;
  const bill = (tokens: number, output: number): void => {
    total += held * read + (tokens - held) * write + output * prices.output;
    held = tokens;
  };
  const compact = (): void => {
    bill(size, SUMMARY);
    size = AFTER;
    held = BASE;
  };
  let calls = 0;
  for (const [run, { steps, stepTokens, cold, message }] of workload.runs.entries()) {
    const warm = run > 0 && cold !== true;
    if (!warm) held = 0;
    size += message ?? 0;
    for (let step = 0; step < steps; step += 1) {
      const soft = step === 0 && size > WINDOW.softThreshold;
      const early =
        soft &&
        (policy === 'always at the ratio' ||
          (policy === 'when it pays' &&
            pays(table, { size, warm, past, stepTokens: calls === 0 ? 0 : grown / calls })));
      if (size > WINDOW.hardThreshold || early) compact();
      bill(size, ANSWER);
      size += stepTokens;
      grown += stepTokens;
      calls += 1;
    }
    past.push({ steps, cold: run > 0 && !warm });
  }
  return ((workload.sessions ?? 1) * total) / 1_000_000;
}

function pays(
  { prices }: PriceTable,
  now: {
    readonly size: number;
    readonly warm: boolean;
    readonly past: readonly PastRun[];
    readonly stepTokens: number;
  },
): boolean {
  return decideEarlyPass({
    prices: [prices],
    tokens: now.size,
    baseTokens: BASE,
    tokensAfter: AFTER,
    summaryTokens: SUMMARY,
    hardThreshold: WINDOW.hardThreshold,
    stepTokens: now.stepTokens,
    expected: expectedSteps(now.past, 0),
    warm: now.warm,
    ride: true,
  }).pays;
}

export interface CostRow {
  readonly table: string;
  readonly workload: string;
  readonly usd: Readonly<Record<EarlyPolicy, number>>;
}

export function costRows(): readonly CostRow[] {
  return PRICE_TABLES.flatMap((table) =>
    WORKLOADS.map((workload) => ({
      table: table.name,
      workload: workload.name,
      usd: usdOf((policy) => workloadUsd(workload, table, policy)),
    })),
  );
}

export function totals(rows: readonly CostRow[], table: string): Readonly<Record<EarlyPolicy, number>> {
  const own = rows.filter((row) => row.table === table);
  return usdOf((policy) => own.reduce((sum, { usd }) => sum + usd[policy], 0));
}

function usdOf(cost: (policy: EarlyPolicy) => number): Readonly<Record<EarlyPolicy, number>> {
  return {
    'never early': cost('never early'),
    'always at the ratio': cost('always at the ratio'),
    'when it pays': cost('when it pays'),
  };
}

/** As Markdown. */
export function costTable(rows: readonly CostRow[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const money = (usd: Readonly<Record<EarlyPolicy, number>>): readonly string[] =>
    EARLY_POLICIES.map((policy) => usd[policy].toFixed(2));
  return [
    line(['prices', 'workload', ...EARLY_POLICIES]),
    line(['---', '---', '---:', '---:', '---:']),
    ...PRICE_TABLES.flatMap(({ name }) => [
      ...rows.filter(({ table }) => table === name).map(({ workload, usd }) => line([name, workload, ...money(usd)])),
      line([name, '**total**', ...money(totals(rows, name)).map((usd) => `**${usd}**`)]),
    ]),
  ].join('\n');
}
