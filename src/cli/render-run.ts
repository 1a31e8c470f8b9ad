import type { RecordedEvent } from '../transcript/events.ts';
import { EXIT, type ExitCode } from './exit-codes.ts';
import type { Renderer } from './render/renderer.ts';

const TICK_MS = 120;

/**
 * Feeds a run's events to a renderer until they end. `settled`: the exit code of how the run ended, `undefined` when the
 * events ended before it did.
 */
export async function renderRun(
  events: AsyncIterable<RecordedEvent>,
  renderer: Renderer,
): Promise<{ readonly settled: ExitCode | undefined; readonly runId: string | undefined }> {
  const timer = setInterval(renderer.tick, TICK_MS);
  let settled: ExitCode | undefined;
  let runId: string | undefined;
  try {
    for await (const recorded of events) {
      runId = recorded.runId;
      settled = exitCodeOf(recorded) ?? settled;
      renderer.event(recorded);
    }
  } finally {
    clearInterval(timer);
  }
  return { settled, runId };
}

function exitCodeOf({ event }: RecordedEvent): ExitCode | undefined {
  if (event.type === 'final_response') return EXIT.ok;
  if (event.type === 'loop_aborted') return EXIT.cancelled;
  return event.type === 'run_failed' ? EXIT.runFailed : undefined;
}
