import { defineConfig } from 'vitest/config';

/** Against llama.cpp's server, which `bin/test-llama.mjs` starts. It has one slot: one file at a time. */
export default defineConfig({
  test: {
    dir: 'test/llama',
    include: ['**/*.test.ts'],
    testTimeout: 300_000,
    hookTimeout: 300_000,
    pool: 'forks',
    maxWorkers: 1,
    fileParallelism: false,
  },
});
