import { forkSession } from '../../client/fork.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { type Output, printJson } from '../output.ts';
import type { Settings } from '../settings.ts';
import { withStore } from '../with-client.ts';

export interface ForkCommand {
  readonly settings: Settings;
  readonly session: string;
  readonly at: number;
  readonly as: string | undefined;
  readonly output: Output | undefined;
}

/** Begins a new session with a copy of another one's first items. Needs no server. */
export function fork({ settings, session, at, as, output }: ForkCommand): Promise<ExitCode> {
  return withStore(settings, async (store) => {
    const made = await forkSession(store, session, { atSeq: at, ...(as === undefined ? {} : { as }) });
    if (output === 'json' || output === 'ndjson') printJson(made);
    else process.stdout.write(`session ${made.sessionId}: ${made.from} up to item ${made.head}\n`);
    return EXIT.ok;
  });
}
