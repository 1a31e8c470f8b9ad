import { defineConfig } from 'vitest/config';

/**
 * Kill tests, endurance, more runs of heavy laws and races, and stream cuts at every byte: one file at a time, so that
 * they do not starve each other. What `npm test` runs too tries more here.
 */
export default defineConfig({
  test: {
    dir: 'test',
    include: [
      'long/**/*.test.ts',
      'providers/*/cut*.test.ts',
      'interchange/*.test.ts',
      'integration/{many-sends,continue-as-new,compaction}.test.ts',
      'replay/histories.test.ts',
      'cli/interrupt.test.ts',
      'transcript/exhaustive.test.ts',
    ],
    globalSetup: ['test/setup/temporal-server.ts'],
    env: { HOLDFAST_LONG: '1', HOLDFAST_ALL_CUTS: '1', HOLDFAST_FC_RUNS: '8000' },
    testTimeout: 900_000,
    hookTimeout: 120_000,
    pool: 'forks',
    maxWorkers: 1,
    expect: { poll: { timeout: 30_000 } },
  },
});
