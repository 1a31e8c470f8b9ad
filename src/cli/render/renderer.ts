import type { RecordedEvent } from '../../transcript/events.ts';

/** Turns a run's events, in order, into output. Knows no clock, no terminal and no process: those are given. */
export interface Renderer {
  readonly event: (recorded: RecordedEvent) => void;
  /** Called a few times a second while the run goes on. */
  readonly tick: () => void;
  /** A line of ours to the person who looks, harmless already. */
  readonly note: (line: string) => void;
  /** Called once, after the last event or when the reader leaves early. `link`: the run's page in the Web UI. */
  readonly end: (link: string | undefined) => void;
}

export interface Sinks {
  /** Results. */
  readonly out: (text: string) => void;
  /** What goes on meanwhile. */
  readonly err: (text: string) => void;
}
