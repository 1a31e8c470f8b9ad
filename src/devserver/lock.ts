import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { DevServerError } from './errors.ts';
import { identityOf, isAlive, type ProcessIdentity } from './process-identity.ts';

const POLL_MS = 50;

/**
 * Does `work` while no other process of this machine does work under the same lock file.
 *
 * The lock of a process that died is taken over. Not reentrant.
 *
 * @throws DevServerError `busy` when another living process keeps it for longer than `timeoutMs`.
 */
export async function withLock<T>(file: string, timeoutMs: number, work: () => Promise<T>): Promise<T> {
  mkdirSync(dirname(file), { recursive: true });
  const deadline = Date.now() + timeoutMs;
  while (!tryLock(file)) {
    const holder = holderOf(file);
    if (holder !== undefined && !isAlive(holder)) breakLock(file);
    else if (Date.now() > deadline) {
      throw new DevServerError(
        'busy',
        `Process ${holder?.pid ?? '(unknown)'} is starting or stopping the dev server of this folder and does not finish.`,
        `End that process, or remove ${file}.`,
      );
    } else await delay(POLL_MS);
  }
  try {
    return await work();
  } finally {
    rmSync(file, { force: true });
  }
}

/** A link of a whole file appears with its content or not at all, so no reader ever sees an empty lock. */
function tryLock(file: string): boolean {
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, JSON.stringify(identityOf(process.pid)));
  try {
    linkSync(draft, file);
    return true;
  } catch {
    return false;
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Takes a dead process's lock away. Should another have broken it and locked meanwhile, its lock is put back. */
function breakLock(file: string): void {
  const aside = `${file}.${process.pid}.broken`;
  try {
    renameSync(file, aside);
    const holder = holderOf(aside);
    if (holder !== undefined && isAlive(holder)) linkSync(aside, file);
  } catch {
    // Somebody else broke it first.
  } finally {
    rmSync(aside, { force: true });
  }
}

function holderOf(file: string): ProcessIdentity | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined; // It was released just now.
  }
}
