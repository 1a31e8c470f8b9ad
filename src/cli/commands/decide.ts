import type { ApprovalRequest } from '../../client/approvals.ts';
import { HoldfastError } from '../../contract/errors.ts';
import type { ApprovalResolution } from '../../contract/messages.ts';
import { unmistakable } from '../../transcript/unmistakable.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { type Output, printRows } from '../output.ts';
import type { Settings } from '../settings.ts';
import { userName } from '../user-name.ts';
import { withClient } from '../with-client.ts';

export interface DecideCommand {
  readonly settings: Settings;
  readonly session: string;
  /** The call, or the beginning of its id; absent: the only one that waits. */
  readonly call: string | undefined;
  readonly decision: ApprovalResolution['decision'];
  readonly note: string | undefined;
  readonly output: Output | undefined;
}

const DONE: Readonly<Record<DecideCommand['decision'], string>> = {
  approve: 'Approved',
  approve_session: 'Approved for the session',
  deny: 'Denied',
};

/** `holdfast approve` and `holdfast deny`: decides on a call that waits, by the arguments that it has now. */
export function decide({ settings, session, call, decision, note, output }: DecideCommand): Promise<ExitCode> {
  return withClient(settings, async (client) => {
    const { callId, argumentsHash, label } = chosen(await client.pendingApprovals(session), session, call);
    const by = userName();
    const more = note === undefined ? {} : { note };
    await client.resolveApproval(session, { callId, argumentsHash, decision, by, ...more });
    printRows(
      output,
      [{ sessionId: session, callId, decision, by }],
      () => `${DONE[decision]}: ${unmistakable(label)}\n`,
    );
    return EXIT.ok;
  });
}

/** The call that somebody means: the only one that waits, or the one whose id begins so. */
export function chosen(
  waiting: readonly ApprovalRequest[],
  session: string,
  call: string | undefined,
): ApprovalRequest {
  const found = call === undefined ? waiting : waiting.filter(({ callId }) => callId.startsWith(call));
  const [only, another] = found;
  const named = call === undefined ? 'no call' : `no call ${call}`;
  if (only === undefined) {
    throw new HoldfastError('NotFound', `${named} of session ${session} waits for an approval`, {
      hint: 'List those that do with `holdfast approvals`.',
    });
  }
  if (another !== undefined) {
    throw new HoldfastError('InvalidInput', `${found.length} calls of session ${session} wait; name one of them`, {
      hint: `They are: ${found.map(({ callId, label }) => `${callId} (${unmistakable(label)})`).join(', ')}.`,
    });
  }
  return only;
}
