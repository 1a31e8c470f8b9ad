import { tail } from '../../client/tail.ts';
import { HoldfastError } from '../../contract/errors.ts';
import type { Store } from '../../store/store.ts';
import type { RecordedEvent } from '../../transcript/events.ts';
import { withApprovals } from '../approval-prompt.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { lookingOn } from '../interruptible.ts';
import { type Output, rendererFor } from '../output.ts';
import { renderRun } from '../render-run.ts';
import type { Settings } from '../settings.ts';
import { clientIfThere, withStore } from '../with-client.ts';

export interface EventsCommand {
  readonly settings: Settings;
  readonly run: string;
  readonly from: number;
  readonly follow: boolean;
  readonly output: Output | undefined;
}

/** A run's events from an index on. Following needs a server only to notice a run that can no longer go on. */
export function events({ settings, run, from, follow, output }: EventsCommand): Promise<ExitCode> {
  return withStore(settings, async (store) => {
    const runId = await runIdOf(store, run);
    return lookingOn(async (signal) => {
      const renderer = rendererFor(output ?? (process.stdout.isTTY ? undefined : 'ndjson'));
      const options = { from, follow, signal };
      const client = follow ? await clientIfThere(settings) : undefined;
      try {
        const source: AsyncIterable<RecordedEvent> = client?.events(runId, options) ?? tail(store, runId, options);
        const sessionId = (await store.run(runId))?.sessionId ?? '';
        const shown = client === undefined ? source : withApprovals(source, { client, sessionId, note: renderer.note });
        await renderRun(shown, renderer);
      } finally {
        await client?.close();
      }
      renderer.end(undefined);
      return signal.aborted ? EXIT.cancelled : EXIT.ok;
    });
  });
}

/** A run by its id, or the last run of a session. */
export async function runIdOf(store: Store, named: string): Promise<string> {
  if ((await store.run(named)) !== undefined) return named;
  const last = (await store.session(named))?.lastRunId;
  if (last === undefined || last === null)
    throw new HoldfastError('NotFound', `no run or session is called "${named}"`);
  return last;
}
