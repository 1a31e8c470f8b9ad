import { pendingApprovals } from '../../client/approvals.ts';
import { HoldfastError } from '../../contract/errors.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { type Output, printRows } from '../output.ts';
import { approvalLines } from '../render/approval-lines.ts';
import { type Settings, storeExists } from '../settings.ts';
import { clientIfThere, withStore } from '../with-client.ts';

export interface ApprovalsCommand {
  readonly settings: Settings;
  readonly session: string | undefined;
  /** Arguments in full, however long. */
  readonly all: boolean;
  readonly output: Output | undefined;
}

/** Lists calls that wait for an approval. A server is asked only which of them were decided a moment ago. */
export async function approvals({ settings, session, all, output }: ApprovalsCommand): Promise<ExitCode> {
  const found = storeExists(settings)
    ? await withStore(settings, async (store) => {
        if (session !== undefined && (await store.session(session)) === undefined) {
          throw new HoldfastError('NotFound', `there is no session ${session}`);
        }
        const connected = await clientIfThere(settings);
        try {
          const client = connected === undefined ? {} : { client: connected.temporal };
          return await pendingApprovals({ store, ...client }, session);
        } finally {
          await connected?.close();
        }
      })
    : [];
  printRows(output, found, (rows) => approvalLines(rows, { now: Date.now(), all }));
  return EXIT.ok;
}
