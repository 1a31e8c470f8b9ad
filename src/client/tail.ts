import type { Store } from '../store/store.ts';
import { type AgentEvent, type RecordedEvent, TERMINAL_EVENT_TYPES } from '../transcript/events.ts';

export interface TailOptions {
  /** First index to tell; default 0. */
  readonly from?: number;
  /** Wait for more until the run has ended. Default false. */
  readonly follow?: boolean;
  /** Tell text and reasoning while they are made. Default: as `follow`. */
  readonly deltas?: boolean;
  readonly signal?: AbortSignal;
  /** Asked now and then while nothing happens; rejects when the run can no longer go on. */
  readonly stillAlive?: () => Promise<void>;
}

/** How often the store is asked, in milliseconds: what a reader lags behind a writer in another process. */
const POLL_MS = 10;
const ALIVE_EVERY_MS = 3000;

interface Cursor {
  readonly step: number;
  readonly attempt: number;
  readonly next: number;
}

/** A run's events in order, from any index on; deltas (`index: null`) stand between the events that they precede. */
export async function* tail(store: Store, runId: string, options: TailOptions = {}): AsyncGenerator<RecordedEvent> {
  const deltas = options.deltas ?? options.follow ?? false;
  let next = options.from ?? 0;
  let cursor: Cursor | undefined;
  let asked = Date.now();
  while (options.signal?.aborted !== true) {
    const events = await store.events(runId, { from: next });
    for (const event of events) {
      yield event;
      next = (event.index ?? next) + 1;
      if (isTerminal(event.event)) return;
    }
    if (options.follow !== true && events.length === 0) return;
    const page = deltas ? await store.deltas(runId, cursor) : undefined;
    if (page !== undefined) {
      for (const delta of page.deltas) yield deltaEvent(runId, page.step, delta);
      cursor = { step: page.step, attempt: page.attempt, next: page.next };
    }
    if (events.length > 0 || (page?.deltas.length ?? 0) > 0) continue;
    if (Date.now() - asked > ALIVE_EVERY_MS) {
      asked = Date.now();
      await options.stillAlive?.();
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

export function isTerminal(event: AgentEvent): boolean {
  return (TERMINAL_EVENT_TYPES as readonly string[]).includes(event.type);
}

function deltaEvent(
  runId: string,
  step: number,
  { kind, text }: { kind: 'text' | 'reasoning'; text: string },
): RecordedEvent {
  const type = kind === 'text' ? 'assistant_text_delta' : 'reasoning_delta';
  return { schemaVersion: 1, runId, index: null, at: new Date().toISOString(), event: { type, step, text } };
}
