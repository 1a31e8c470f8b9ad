import { defineConfig } from 'vitest/config';

const common = { testTimeout: 60_000, hookTimeout: 120_000, pool: 'forks' } as const;

export default defineConfig({
  test: {
    maxWorkers: 2,
    projects: [
      {
        test: {
          ...common,
          name: 'unit',
          dir: 'test',
          include: ['**/*.test.ts'],
          exclude: ['integration/**', 'replay/**', 'cli/**', 'long/**'],
        },
      },
      {
        test: {
          ...common,
          name: 'server',
          dir: 'test',
          include: ['integration/**/*.test.ts', 'replay/**/*.test.ts', 'cli/**/*.test.ts'],
          globalSetup: ['test/setup/temporal-server.ts'],
        },
      },
    ],
  },
});
