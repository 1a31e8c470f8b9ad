import type { Database } from './database.ts';
import { writeSession } from './session-write.ts';
import type { Writer } from './store.ts';

/** See {@link Store.renewLease}. Only the attempt that holds the lease can extend it. */
export async function renewLease(database: Database, writer: Writer, callId: string, leaseMs: number): Promise<void> {
  await writeSession(database, writer, async (write) => {
    await write.trx
      .updateTable('tool_effects')
      .set({ lease_until_ms: write.nowMs + leaseMs })
      .where('session_id', '=', writer.sessionId)
      .where('call_id', '=', callId)
      .where('owner', '=', writer.owner)
      .where('activity_id', '=', writer.activityId)
      .where('attempt', '=', writer.attempt)
      .execute();
  });
}
