import type SqliteDatabase from 'better-sqlite3';

/** How often the file's change counter is read while somebody watches; reading it takes microseconds. */
const POLL_MS = 8;

/** Tells listeners that another connection, in this process or any, has committed. */
export interface DataVersionWatcher {
  readonly watch: (listener: (runId: undefined) => void) => () => void;
  readonly stop: () => void;
}

/** Watches `PRAGMA data_version` of a connection that never writes, so that every commit counts as another's. */
export function watchDataVersion(connection: SqliteDatabase.Database): DataVersionWatcher {
  const statement = connection.prepare('pragma data_version').pluck();
  const listeners = new Set<(runId: undefined) => void>();
  let timer: NodeJS.Timeout | undefined;
  let seen: unknown;

  const stop = (): void => {
    clearInterval(timer);
    timer = undefined;
    listeners.clear();
  };
  const poll = (): void => {
    const version = statement.get();
    if (version === seen) return;
    seen = version;
    for (const listener of [...listeners]) listener(undefined);
  };
  const watch = (listener: (runId: undefined) => void): (() => void) => {
    listeners.add(listener);
    if (timer === undefined) {
      seen = statement.get();
      timer = setInterval(poll, POLL_MS);
      timer.unref();
    }
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0) stop();
    };
  };
  return { watch, stop };
}
