// Breaks the transcript's sources one way at a time and runs its tests: each break must turn one red.
//
//   node scripts/mutate-transcript.mjs [--only REGEXP] [--quick]
//
// --only: mutations whose "file: why" fits. --quick: without the exhaustive check, so that a survivor costs less time.
//
// Works on a copy in a temporary folder. Takes minutes; exits 1 when a break goes unnoticed or a pattern no longer fits.
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { createVitest } from 'vitest/node';
import { MUTATIONS } from './transcript-mutations.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const { values: options } = parseArgs({
  options: { only: { type: 'string', default: '' }, quick: { type: 'boolean', default: false } },
});

function copyOfProject() {
  const copy = mkdtempSync(join(tmpdir(), 'holdfast-mutants-'));
  for (const part of ['src', 'test', 'package.json', 'tsconfig.base.json', 'tsconfig.main.json', 'tsconfig.json']) {
    cpSync(join(root, part), join(copy, part), { recursive: true });
  }
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  return copy;
}

/** Tests kept ready to run again; `runs` of each property. */
async function suite(copy, { runs, ...settings }) {
  const vitest = await createVitest('test', {
    root: copy,
    config: false,
    watch: false,
    dir: join(copy, 'test', 'transcript'),
    include: ['**/*.test.ts'],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    pool: 'threads',
    isolate: false,
    maxWorkers: 1,
    bail: 1,
    reporters: [{}],
    env: { HOLDFAST_FC_RUNS: String(runs), HOLDFAST_LONG: '1' },
    ...settings,
  });
  const specifications = await vitest.globTestSpecifications();
  return {
    /** What failed, in words; `undefined` when all passed. */
    async failure() {
      const { testModules, unhandledErrors } = await vitest.runTestSpecifications(specifications, false);
      const failed = testModules.filter((module) => !module.ok());
      if (failed.length === 0 && unhandledErrors.length === 0) return undefined;
      const errors = failed.flatMap((module) => [
        ...module.errors(),
        ...[...module.children.allTests('failed')].flatMap((test) => test.result().errors ?? []),
      ]);
      return [...errors, ...unhandledErrors].map((error) => String(error.message ?? error)).join('\n');
    },
    /** A file is another one now. */
    changed: (path) => vitest.invalidateFile(path),
    close: () => vitest.close(),
  };
}

function mutated(path, { file, find, replace }) {
  const source = readFileSync(path, 'utf8');
  const at = source.indexOf(find);
  if (at < 0 || source.indexOf(find, at + 1) >= 0) throw new Error(`${file}: the pattern must fit once: ${find}`);
  writeFileSync(path, source.slice(0, at) + replace + source.slice(at + find.length));
  return () => writeFileSync(path, source);
}

const copy = copyOfProject();
const survivors = [];
// Few runs catch most; what they miss meets more runs, then the exhaustive check, as far as it needs no adapter.
const exhaustive = { runs: 1, include: ['**/exhaustive.test.ts'], testNamePattern: '^(?!.*on the wire)' };
const suites = [
  await suite(copy, { runs: 25, exclude: ['**/exhaustive.test.ts'] }),
  await suite(copy, { runs: 500, exclude: ['**/exhaustive.test.ts'] }),
  ...(options.quick ? [] : [await suite(copy, exhaustive)]),
];
try {
  for (const tests of suites) {
    const failure = await tests.failure();
    if (failure !== undefined) throw new Error(`the tests fail without any mutation: ${failure}`);
  }
  const only = new RegExp(options.only);
  const chosen = MUTATIONS.filter(({ file, why }) => only.test(`${file}: ${why}`));
  for (const mutation of chosen) {
    const path = join(copy, 'src', 'transcript', mutation.file);
    const restore = mutated(path, mutation);
    for (const tests of suites) tests.changed(path);
    let caught = false;
    for (const tests of suites) caught = caught || (await tests.failure()) !== undefined;
    restore();
    for (const tests of suites) tests.changed(path);
    if (!caught) survivors.push(mutation);
    console.log(`${caught ? 'caught  ' : 'SURVIVED'} ${mutation.file}: ${mutation.why}`);
  }
  console.log(`${chosen.length - survivors.length} of ${chosen.length} mutations caught`);
} finally {
  for (const tests of suites) await tests.close();
  rmSync(copy, { recursive: true, force: true });
}
process.exitCode = survivors.length === 0 ? 0 : 1;
