import { defineConfig } from 'vitest/config';

/** Kill tests, chaos, endurance: one file at a time, so that they do not starve each other. */
export default defineConfig({
  test: {
    dir: 'test/long',
    include: ['**/*.test.ts'],
    testTimeout: 900_000,
    hookTimeout: 120_000,
    pool: 'forks',
    maxWorkers: 1,
    passWithNoTests: true,
    expect: { poll: { timeout: 30_000 } },
  },
});
