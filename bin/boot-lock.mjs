import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Does `work` (synchronous) while no other process does work under the same lock file, so that two terminals never
 * install over each other. The lock of a process that died is taken over.
 */
export function bootLock(file, work) {
  mkdirSync(dirname(file), { recursive: true });
  let told = false;
  while (!tryLock(file)) {
    const holder = Number(readIfThere(file));
    if (holder > 0 && !isAlive(holder)) rmSync(file, { force: true });
    else if (!told) {
      console.error('Another terminal is preparing this checkout; waiting for it …');
      told = true;
    }
    sleep(200);
  }
  process.once('exit', () => rmSync(file, { force: true }));
  work();
  rmSync(file, { force: true });
}

function tryLock(file) {
  try {
    writeFileSync(file, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
    return false;
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

function readIfThere(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

function sleep(ms) {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
