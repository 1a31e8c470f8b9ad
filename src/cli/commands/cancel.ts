import { EXIT, type ExitCode } from '../exit-codes.ts';
import type { Settings } from '../settings.ts';
import { withClient } from '../with-client.ts';

/** Asks a session's open run to stop; its transcript is settled before it ends. */
export function cancel(settings: Settings, session: string, reason: string | undefined): Promise<ExitCode> {
  return withClient(settings, async (client) => {
    await client.cancel(session, reason);
    process.stdout.write(`Session ${session} is asked to stop.\n`);
    return EXIT.ok;
  });
}
