import type { Delta } from '../store/store.ts';

/** How long deltas are collected before they are written: what a reader may lag, against one transaction a token. */
const COALESCE_MS = 40;

export interface DeltaWriter {
  add(delta: Delta): void;
  /** Writes what is left and stops. Rejects when some write failed (a fence): the model call must then be given up. */
  close(): Promise<void>;
  /** Aborted when a write failed. */
  readonly failed: AbortSignal;
}

/** Writes deltas in order, at most one write at a time, so that readers see text while it is made. */
export function createDeltaWriter(write: (from: number, deltas: readonly Delta[]) => Promise<void>): DeltaWriter {
  let pending: Delta[] = [];
  let written = 0;
  let timer: NodeJS.Timeout | undefined;
  let last: Promise<void> = Promise.resolve();
  const failure = new AbortController();

  const flush = (): void => {
    timer = undefined;
    if (pending.length === 0) return;
    const batch = coalesce(pending);
    const from = written;
    pending = [];
    written += batch.length;
    last = last.then(() => (failure.signal.aborted ? undefined : write(from, batch)));
    last.catch((error) => failure.abort(error));
  };

  return {
    failed: failure.signal,
    add(delta) {
      pending.push(delta);
      timer ??= setTimeout(flush, COALESCE_MS);
    },
    async close() {
      clearTimeout(timer);
      // What is still pending is part of the item that is about to be committed: nobody needs it as a delta.
      pending = [];
      await last;
    },
  };
}

/** Neighbours of one kind become one delta. */
function coalesce(deltas: readonly Delta[]): Delta[] {
  const result: Delta[] = [];
  for (const delta of deltas) {
    const previous = result.at(-1);
    if (previous?.kind === delta.kind)
      result[result.length - 1] = { kind: delta.kind, text: previous.text + delta.text };
    else result.push(delta);
  }
  return result;
}
