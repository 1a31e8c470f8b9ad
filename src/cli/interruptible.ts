import { Cleanup } from './cleanup.ts';
import { EXIT } from './exit-codes.ts';
import { onInterrupt } from './interrupts.ts';

/**
 * The work of a command that starts things. A first Ctrl-C aborts its signal, so that it ends in good order; a second
 * one ends what was started at once, and the process.
 */
export async function withCleanup<T>(work: (cleanup: Cleanup, interrupted: AbortSignal) => Promise<T>): Promise<T> {
  const cleanup = new Cleanup();
  const interrupted = new AbortController();
  const stopListening = onInterrupt({
    ask: () => interrupted.abort(),
    force: () => {
      cleanup.now();
      process.exit(EXIT.cancelled);
    },
  });
  try {
    return await work(cleanup, interrupted.signal);
  } finally {
    await cleanup.all();
    stopListening();
  }
}

/** The work of a command that only looks on: Ctrl-C aborts its signal, and what is looked at goes on. */
export async function lookingOn<T>(work: (left: AbortSignal) => Promise<T>): Promise<T> {
  const leave = new AbortController();
  const stopListening = onInterrupt({ ask: () => leave.abort(), force: () => process.exit(EXIT.cancelled) });
  try {
    return await work(leave.signal);
  } finally {
    stopListening();
  }
}

/** Resolves once the signal is aborted; at once where it is already. */
export function untilAborted(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    else signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });
}
