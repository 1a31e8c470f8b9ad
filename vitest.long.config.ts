import { defineConfig } from 'vitest/config';

/** Kill tests, endurance, more runs of heavy laws, and stream cuts at every byte: one file at a time, so that they do not starve each other. */
export default defineConfig({
  test: {
    dir: 'test',
    include: ['long/**/*.test.ts', 'providers/*/cut*.test.ts', 'interchange/*.test.ts'],
    env: { HOLDFAST_ALL_CUTS: '1', HOLDFAST_FC_RUNS: '8000' },
    testTimeout: 900_000,
    hookTimeout: 120_000,
    pool: 'forks',
    maxWorkers: 1,
    expect: { poll: { timeout: 30_000 } },
  },
});
