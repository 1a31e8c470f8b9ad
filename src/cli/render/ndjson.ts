import type { Renderer, Sinks } from './renderer.ts';

/** One event a line as it happens: the event's own keys, and `runId`, `index` (`null` for deltas), `at`, `schemaVersion`. */
export function ndjsonRenderer({ out, err }: Sinks): Renderer {
  return {
    event: ({ event, runId, index, at, schemaVersion }) =>
      out(`${JSON.stringify({ ...event, runId, index, at, schemaVersion })}\n`),
    tick: () => {},
    note: (line) => err(`${line}\n`),
    end: () => {},
  };
}
