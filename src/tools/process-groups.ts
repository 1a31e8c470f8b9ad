import type { ChildProcess } from 'node:child_process';

const groups = new Set<number>();
let watching = false;

/** Remembers the group of a process that was started `detached`, so that it ends with ours however that ends by itself. */
export function guardGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  groups.add(pid);
  if (watching) return;
  watching = true;
  process.once('exit', () => {
    for (const group of groups) kill(group, 'SIGKILL');
  });
}

/** Signals a process and all that it started. */
export function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid !== undefined) kill(pid, signal);
}

/** Ends what is left of the group of a process that has ended. */
export function endGroup(child: ChildProcess): void {
  signalGroup(child, 'SIGKILL');
  if (child.pid !== undefined) groups.delete(child.pid);
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // The group is gone already.
  }
}
