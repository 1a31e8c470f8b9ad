/** Signals of a second keypress that come this soon are the first one again: npm forwards what the terminal sent already. */
const SAME_KEYPRESS_MS = 250;

export interface InterruptHandlers {
  /** The first Ctrl-C or SIGTERM: end in good order. */
  readonly ask: () => void;
  /** A later one, or a closed terminal: leave at once. Must not wait. */
  readonly force: () => void;
}

/** Listens until the returned function is called. */
export function onInterrupt({ ask, force }: InterruptHandlers): () => void {
  let askedAt: number | undefined;
  const interrupted = (): void => {
    const now = performance.now();
    if (askedAt === undefined) {
      askedAt = now;
      ask();
    } else if (now - askedAt > SAME_KEYPRESS_MS) force();
  };
  process.on('SIGINT', interrupted).on('SIGTERM', interrupted).on('SIGHUP', force);
  return () => {
    process.off('SIGINT', interrupted).off('SIGTERM', interrupted).off('SIGHUP', force);
  };
}
