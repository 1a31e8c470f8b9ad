// `npm run test:llama [-- FILTER …]`: the adapters against a real server that is not ours, llama.cpp's, with a small real model.
// Installs and compiles it first, once. Ends with `N passed, N failed` alone on a line.
import './node-version.mjs';
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bootstrap, commandFile, ROOT, say } from './bootstrap.mjs';
import { installLlama } from './llama-install.mjs';
import { startLlama } from './llama-server.mjs';

/** Tokens; the tests know the number too. */
const WINDOW = 2048;

bootstrap();
const home = join(ROOT, '.holdfast', 'llama');
try {
  const template = join(ROOT, 'test', 'llama', 'chat-template.jinja');
  const { url, stop } = await startLlama({
    ...installLlama(home),
    template,
    window: WINDOW,
    log: join(home, 'server.log'),
  });
  say(`llama.cpp's server is at ${url}.`);
  try {
    report(await tests(url));
  } finally {
    await stop();
  }
} catch (error) {
  say(error.message);
  report({ passed: 0, failed: 1 });
}

function report({ passed, failed }) {
  console.log(`${passed} passed, ${failed} failed`);
  process.exitCode = failed === 0 && passed > 0 ? 0 : 1;
}

async function tests(url) {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-llama-'));
  const file = join(folder, 'report.json');
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${file}`];
  const args = [commandFile('vitest', 'vitest'), 'run', '--config', 'vitest.llama.config.ts', ...reporters];
  const env = { ...process.env, HOLDFAST_LLAMA_URL: url };
  // Not spawnSync: a signal must still stop the server.
  const child = spawn(process.execPath, [...args, ...process.argv.slice(2)], {
    cwd: ROOT,
    stdio: ['ignore', 2, 2],
    env,
  });
  const code = await new Promise((resolve) => child.once('close', resolve));
  const counts = counted(file);
  rmSync(folder, { recursive: true, force: true });
  return counts.failed === 0 && code !== 0 ? { ...counts, failed: 1 } : counts;
}

function counted(file) {
  try {
    const { numPassedTests, numFailedTests } = JSON.parse(readFileSync(file, 'utf8'));
    return { passed: numPassedTests, failed: numFailedTests };
  } catch {
    return { passed: 0, failed: 1 };
  }
}
