import type { Client } from 'pg';

/** Channel of `NOTIFY`, local to the server's database; the payload is the id of a run with news. */
export const CHANNEL = 'holdfast_runs';

/** How long to wait before a broken connection is made again. */
const RECONNECT_MS = 500;

type Listener = (runId: string | undefined) => void;

export interface ChannelWatcher {
  readonly watch: (listener: Listener) => () => void;
  readonly stop: () => Promise<void>;
}

/** Listens on one connection while anybody watches. After a break every listener is told once, for it missed news. */
export function watchChannel(makeClient: () => Client): ChannelWatcher {
  const listeners = new Set<Listener>();
  let client: Client | undefined;
  let retry: NodeJS.Timeout | undefined;

  const tell: Listener = (runId) => {
    for (const listener of [...listeners]) listener(runId);
  };
  const lost = (broken: Client): void => {
    if (client !== broken) return;
    client = undefined;
    broken.end().catch(() => {});
    retry = setTimeout(connect, RECONNECT_MS);
    retry.unref();
  };
  const connect = (): void => {
    if (client !== undefined || listeners.size === 0) return;
    const made = makeClient();
    client = made;
    made.on('notification', (notice) => tell(notice.payload));
    made.on('error', () => lost(made));
    made.on('end', () => lost(made));
    made
      .connect()
      .then(() => made.query(`listen ${CHANNEL}`))
      .then(() => tell(undefined))
      .catch(() => lost(made));
  };
  const stop = async (): Promise<void> => {
    clearTimeout(retry);
    listeners.clear();
    const open = client;
    client = undefined;
    await open?.end().catch(() => {});
  };
  const watch = (listener: Listener): (() => void) => {
    listeners.add(listener);
    connect();
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0) void stop();
    };
  };
  return { watch, stop };
}
