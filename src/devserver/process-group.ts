import { spawn } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { isAlive, type ProcessIdentity } from './process-identity.ts';

const POLL_MS = 20;

/**
 * Ends a process that leads its own group, and everything in that group: SIGTERM, then SIGKILL after `graceMs`.
 *
 * Does nothing when that process is gone, so a pid that was given to somebody else is never hit.
 */
export async function endGroup(leader: ProcessIdentity, graceMs: number): Promise<void> {
  if (!isAlive(leader)) return;
  signalGroup(leader.pid, 'SIGTERM');
  for (let waited = 0; waited < graceMs && isAlive(leader); waited += POLL_MS) await delay(POLL_MS);
  signalGroup(leader.pid, 'SIGKILL');
  while (isAlive(leader)) await delay(POLL_MS);
}

/** As {@link endGroup} without any wait, for the moment of leaving. */
export function killGroupNow(leader: ProcessIdentity): void {
  if (isAlive(leader)) signalGroup(leader.pid, 'SIGKILL');
}

function signalGroup(pid: number, signal: 'SIGTERM' | 'SIGKILL'): void {
  if (process.platform === 'win32') {
    spawn('taskkill', ['/pid', String(pid), '/t', '/f'], { stdio: 'ignore' });
    return;
  }
  try {
    process.kill(-pid, signal);
  } catch {
    // The group is empty already.
  }
}
