import { join } from 'node:path';
import type { TemporalBinary } from './binary.ts';
import { withLock } from './lock.ts';
import { endGroup, killGroupNow } from './process-group.ts';
import { type StartOptions, startDevServer } from './start.ts';
import {
  addUser,
  type DevState,
  liveDevState,
  otherUsers,
  removeDevState,
  removeUser,
  writeDevState,
} from './state.ts';

const LOCK_TIMEOUT_MS = 60_000;
/** The server's orderly stop takes three seconds; its database survives a kill, so waiting for it buys nothing. */
const STOP_GRACE_MS = 300;

export interface UseOptions extends Omit<StartOptions, 'binary'> {
  /** Called only when a server has to be started. */
  readonly binary: () => Promise<TemporalBinary>;
  /** Whether the caller keeps a worker running, which others may then rely on. */
  readonly worker: boolean;
}

/** The folder's dev server in use by this process. */
export interface DevServerInUse {
  readonly state: DevState;
  /** Whether this call started it. */
  readonly started: boolean;
  /** Whether another process keeps a worker running on it. */
  readonly hasWorker: boolean;
  /** Leaves it: the last user of the folder ends it. May be called again. */
  readonly release: () => Promise<void>;
  /** The same in an instant, for leaving at once. */
  readonly releaseNow: () => void;
}

/**
 * The dev server of a folder: the one that runs, else a new one. Several processes may use it; whoever leaves last ends
 * it, also when the one that started it was killed.
 */
export async function useDevServer(options: UseOptions): Promise<DevServerInUse> {
  const { stateDir } = options;
  const lock = join(stateDir, 'dev.lock');
  const { state, started, hasWorker } = await withLock(lock, LOCK_TIMEOUT_MS, async () => {
    const running = liveDevState(stateDir);
    const found = running ?? (await startAndTell(options));
    addUser(stateDir, options.worker);
    const hasWorker = otherUsers(stateDir).some((user) => user.worker);
    return { state: found, started: running === undefined, hasWorker };
  });
  const release = (): Promise<void> =>
    withLock(lock, LOCK_TIMEOUT_MS, async () => {
      removeUser(stateDir);
      if (otherUsers(stateDir).length > 0) return;
      await endGroup(state.process, STOP_GRACE_MS);
      removeDevState(stateDir);
    });
  const releaseNow = (): void => {
    removeUser(stateDir);
    if (otherUsers(stateDir).length > 0) return;
    killGroupNow(state.process);
    removeDevState(stateDir);
  };
  return { state, started, hasWorker, release, releaseNow };
}

async function startAndTell(options: UseOptions): Promise<DevState> {
  const server = await startDevServer({ ...options, binary: await options.binary() });
  const state: DevState = { schemaVersion: 1, ...server, startedAt: new Date().toISOString() };
  writeDevState(options.stateDir, state);
  return state;
}
