import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

let clone: string;

beforeEach(() => {
  clone = mkdtempSync(join(tmpdir(), 'holdfast-ci-'));
  cpSync(join(import.meta.dirname, '../../.ci'), join(clone, '.ci'), { recursive: true });
});
afterEach(() => rmSync(clone, { recursive: true, force: true }));

/** Runs `.ci/run` with an npm that answers as told, on a machine where nothing can be installed. */
function ci(npm: { test: string; long: string }, env: Record<string, string> = {}) {
  const bin = join(clone, 'stubs');
  mkdirSync(bin);
  const program = (name: string, script: string): void => {
    writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(bin, name), 0o755);
  };
  program('apt-get', 'exit 0');
  program('npm', `case "$3" in test) ${npm.test} ;; test:long) ${npm.long} ;; esac`);
  const { status, stdout } = spawnSync(join(clone, '.ci', 'run'), {
    env: { PATH: `${bin}:/usr/local/bin:/usr/bin:/bin`, ...env },
    encoding: 'utf8',
  });
  const lines = stdout.trimEnd().split('\n');
  return { status, last: lines.at(-1), stdout };
}

test.each([
  ['all pass', 'echo "10 passed, 0 failed"', 'echo "3 passed, 0 failed"', '13 passed, 0 failed', 0],
  ['some fail', 'echo "10 passed, 2 failed"; exit 1', 'echo "3 passed, 1 failed"; exit 1', '13 passed, 3 failed', 1],
  ['the first ends without a total', 'echo boom; exit 1', 'echo "3 passed, 0 failed"', '3 passed, 1 failed', 1],
  ['the second is killed', 'echo "10 passed, 0 failed"', 'kill -9 $$', '10 passed, 1 failed', 1],
  [
    'a test prints a total too',
    'echo "1 passed, 0 failed"; echo "10 passed, 0 failed"',
    'echo "0 passed, 0 failed"',
    '10 passed, 0 failed',
    0,
  ],
])('%s: one total closes the log', (_what, first, second, total, code) => {
  expect(ci({ test: first, long: second })).toMatchObject({ last: total, status: code });
});

test('it runs without HOME and without input, and says CI to what it starts', () => {
  const npm = 'echo "CI=$CI HOME=$HOME"; cat; echo "1 passed, 0 failed"';
  const { status, stdout } = ci({ test: npm, long: npm });
  expect(stdout).toMatch(/CI=true HOME=\/\S+/);
  expect(status).toBe(0);
});
