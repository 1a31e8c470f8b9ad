import { ApplicationFailure, Context } from '@temporalio/activity';

/** A cancel comes back only in a beat's reply, so the beat is what limits how late it arrives. */
const BEAT_MS = 200;

/**
 * Runs `work` under a heartbeat, with a signal that aborts when the activity is cancelled, times out, or the worker shuts down.
 *
 * Temporal delivers cancellation only in reply to a heartbeat (module docs of `@temporalio/activity`); the worker's
 * `maxHeartbeatThrottleInterval` limits what reaches the server.
 */
export async function withHeartbeat<T>(
  work: (signal: AbortSignal, note: (text: string) => void) => Promise<T>,
): Promise<T> {
  const context = Context.current();
  let note = '';
  const beat = () => context.heartbeat(note === '' ? undefined : note);
  const timer = context.info.heartbeatTimeoutMs === undefined ? undefined : setInterval(beat, BEAT_MS);
  try {
    return await work(context.cancellationSignal, (text) => {
      note = text.slice(0, 200);
    });
  } finally {
    clearInterval(timer);
  }
}

/** Whether a person asked to stop. An abort for any other reason (shutdown, timeout, not found) must not be committed as a cancel. */
export function cancelRequested(): boolean {
  return Context.current().cancellationDetails?.cancelRequested === true;
}

/** Hands the work to another worker: this one is going down, or the server no longer knows the attempt. */
export function workerShutdown(): ApplicationFailure {
  return ApplicationFailure.create({
    type: 'WorkerShutdown',
    message: 'the worker is shutting down',
    nonRetryable: false,
  });
}
