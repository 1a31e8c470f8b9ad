import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** A process, told apart from a later one that was given the same pid. */
export interface ProcessIdentity {
  readonly pid: number;
  /** When it started, in the words of the system; `null` where the system does not tell. */
  readonly startMark: string | null;
}

export function identityOf(pid: number): ProcessIdentity {
  return { pid, startMark: startMark(pid) };
}

/** Whether that very process still runs (a zombie does not). */
export function isAlive({ pid, startMark: expected }: ProcessIdentity): boolean {
  if (!exists(pid)) return false;
  const found = startMark(pid);
  return expected === null || found === null ? found !== 'zombie' : found === expected;
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: there is such a process, of another user.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

function startMark(pid: number): string | null {
  return process.platform === 'linux' ? linuxStartMark(pid) : process.platform === 'win32' ? null : psStartMark(pid);
}

/** Fields 3 (state) and 22 (start time in clock ticks since boot) of `/proc/PID/stat`, proc(5); field 2 may hold spaces. */
function linuxStartMark(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' ? 'zombie' : (fields[19] ?? null);
  } catch {
    return null;
  }
}

function psStartMark(pid: number): string | null {
  try {
    return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim() || null;
  } catch {
    return null;
  }
}
