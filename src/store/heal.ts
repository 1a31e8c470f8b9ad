import { appendEvents } from './append-events.ts';
import type { Ending } from './end-run.ts';
import { endRun } from './end-run.ts';
import { endMessages, waitingMessages } from './messages.ts';
import { asRun } from './run-state.ts';
import type { SessionWrite } from './session-write.ts';

/** What is said of a run whose workflow was terminated or vanished, and of the messages that went with it. */
const ABANDONED = {
  type: 'run_failed',
  error: 'RunAbandoned',
  message: 'The run was terminated, or its workflow vanished, before it could end.',
  hint: 'Send the message again; what the run did until then is in the transcript.',
} as const;

/**
 * Ends what earlier executions of the session left open. The session's lock is with the caller, so nobody works on it
 * any more: started calls have an unknown outcome, others never began.
 *
 * @param alive messages that the new run answers or has waiting; any other that still waits was lost with its run.
 */
export async function healSession(write: SessionWrite, alive: ReadonlySet<string>): Promise<void> {
  const lost = (await waitingMessages(write)).filter(({ messageId }) => !alive.has(messageId));
  const open = await write.trx
    .selectFrom('agent_runs')
    .selectAll()
    .where('session_id', '=', write.writer.sessionId)
    .where('completed_at', 'is', null)
    .orderBy('run_number')
    .execute();
  for (const row of open) {
    const mine = lost.filter((message) => message.queuedRunId === row.run_id).map((message) => message.messageId);
    await endRun(write, asRun(row), abandoned(mine));
  }
  const healed = new Set(open.map((row) => row.run_id));
  const orphans = lost.filter((message) => !healed.has(message.queuedRunId));
  for (const { messageId, queuedRunId } of orphans) {
    const index = await appendEvents(write, queuedRunId, [{ ...ABANDONED, answers: [messageId] }]);
    await endMessages(write, queuedRunId, index, [messageId]);
  }
}

function abandoned(dropped: readonly string[]): Ending {
  return { status: 'abandoned', final: { ...ABANDONED, answers: [] }, events: [], dropped };
}
