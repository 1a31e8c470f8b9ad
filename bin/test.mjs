// `npm test [-- FILTER …]`: type check, lint, dead code, then every test; `--long` runs the long ones instead.
// Ends with `N passed, N failed` alone on a line: each check that is not a test counts as one.
import './node-version.mjs';
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { bootstrap, commandFile, ROOT, runNode, say } from './bootstrap.mjs';

const args = process.argv.slice(2);
const long = args.includes('--long');
const filters = args.filter((arg) => arg !== '--long');
const started = Date.now();

bootstrap();
const env = { ...process.env, PATH: [dirname(await temporalCli()), process.env.PATH].join(delimiter) };
const totals = { passed: 0, failed: 0 };
// With a filter somebody is at work on one thing: only the tests are asked.
if (!long && filters.length === 0) {
  // Beside each other: none of them keeps every core busy.
  await Promise.all([
    check('type check', [commandFile('typescript', 'tsc'), '-b']),
    check('lint', [commandFile('@biomejs/biome', 'biome'), 'check', '--error-on-warnings', '.']),
    check('dead code', [commandFile('knip', 'knip'), '--no-progress']),
  ]);
}
tests(long ? ['--config', 'vitest.long.config.ts'] : []);
say(`Took ${Math.round((Date.now() - started) / 1000)} s.`);
console.log(`${totals.passed} passed, ${totals.failed} failed`);
process.exitCode = totals.failed === 0 ? 0 : 1;

/** The tests run on a real server: found, else fetched, as for a run. */
async function temporalCli() {
  const { resolveDevServer } = await import('../dist/src/devserver/resolve.js');
  try {
    const { path } = await resolveDevServer({
      env: process.env,
      cacheDir: join(ROOT, '.holdfast', 'bin'),
      say,
      progress: progressLine(),
    });
    return path;
  } catch (error) {
    say(`${error.message}\n${error.hint ?? ''}`);
    console.log('0 passed, 1 failed');
    process.exit(1);
  }
}

/** A line each fifteen seconds: CI logs show that something goes on, and do not fill. */
function progressLine() {
  let last = 0;
  return (line) => {
    if (Date.now() - last < 15_000) return;
    last = Date.now();
    say(line);
  };
}

async function check(name, command) {
  const child = spawn(process.execPath, command, { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const printed = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => printed.push(data));
  const code = await new Promise((resolve) => child.once('close', resolve));
  totals[code === 0 ? 'passed' : 'failed'] += 1;
  // In one piece, so that the checks do not talk across each other.
  say(`${Buffer.concat(printed)}${name}: ${code === 0 ? 'passed' : 'FAILED'}`);
}

function tests(options) {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-test-'));
  const report = join(folder, 'report.json');
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  const code = runNode([commandFile('vitest', 'vitest'), 'run', ...options, ...reporters, ...filters], { env });
  const { passed, failed, skipped } = readReport(report);
  rmSync(folder, { recursive: true, force: true });
  totals.passed += passed;
  // A crash, or an error outside every test, fails the run even when no test did.
  totals.failed += failed === 0 && code !== 0 ? 1 : failed;
  if (skipped > 0) say(`${skipped} skipped`);
}

function readReport(file) {
  let report;
  try {
    report = JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return { passed: 0, failed: 0, skipped: 0 };
  }
  // A file that does not load has no tests to fail.
  const broken = report.testResults.filter((suite) => suite.status === 'failed' && suite.assertionResults.length === 0);
  return {
    passed: report.numPassedTests,
    failed: report.numFailedTests + broken.length,
    skipped: report.numPendingTests + report.numTodoTests,
  };
}
