import { EXIT, type ExitCode } from '../exit-codes.ts';
import { lookingOn } from '../interruptible.ts';
import { type Output, printJson } from '../output.ts';
import { type CompactionResult, resultLine } from '../render/compaction.ts';
import type { Settings } from '../settings.ts';
import { withClient } from '../with-client.ts';

export interface CompactCommand {
  readonly settings: Settings;
  readonly session: string;
  readonly instructions: string | undefined;
  readonly output: Output | undefined;
}

/** Asks for a compaction and tells what came of it. Ctrl-C only stops waiting. */
export function compact({ settings, session, instructions, output }: CompactCommand): Promise<ExitCode> {
  const asked = instructions === undefined ? {} : { instructions };
  return withClient(settings, (client) =>
    lookingOn(async (signal) => {
      try {
        const result = await client.compact(session, { ...asked, signal });
        if (output === 'json' || output === 'ndjson') printJson(result);
        else process.stdout.write(`${resultLine(result)}\n`);
        return EXIT_OF_OUTCOME[result.outcome];
      } catch (error) {
        if (!signal.aborted) throw error;
        process.stderr.write('No longer waiting; the compaction goes on.\n');
        return EXIT.cancelled;
      }
    }),
  );
}

/** A table, so that a new outcome does not compile until it is ruled on. */
const EXIT_OF_OUTCOME: Readonly<Record<CompactionResult['outcome'], ExitCode>> = {
  compacted: EXIT.ok,
  edited: EXIT.ok,
  nothing: EXIT.ok,
  // Another one came first: the session is compacted all the same.
  stale: EXIT.ok,
  failed: EXIT.runFailed,
  cancelled: EXIT.cancelled,
};
