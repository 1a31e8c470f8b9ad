import { defineConfig } from 'vitest/config';

// Generous: a loaded machine must not turn a right answer into a failure.
const common = {
  testTimeout: 180_000,
  hookTimeout: 180_000,
  pool: 'forks',
  expect: { poll: { timeout: 30_000 } },
} as const;

export default defineConfig({
  test: {
    // One more than the cores: server tests wait for disks and processes much of their time.
    maxWorkers: 3,
    projects: [
      {
        test: {
          ...common,
          name: 'unit',
          dir: 'test',
          // A new process and all imports again for each of so many small files cost more than the tests.
          isolate: false,
          include: ['**/*.test.ts'],
          exclude: ['integration/**', 'replay/**', 'cli/**', 'long/**', 'llama/**'],
          globalSetup: ['test/store/postgres.setup.ts'],
        },
      },
      {
        test: {
          ...common,
          name: 'server',
          dir: 'test',
          include: ['integration/**/*.test.ts', 'replay/**/*.test.ts', 'cli/**/*.test.ts'],
          // With the long tests: each takes half a minute, and both have a shorter relative here.
          exclude: ['integration/endless-session.test.ts', 'cli/interrupt.test.ts'],
          globalSetup: ['test/setup/temporal-server.ts'],
        },
      },
    ],
  },
});
