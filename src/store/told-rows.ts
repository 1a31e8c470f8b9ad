import { chunked } from './chunked.ts';
import type { ToolEffectsTable } from './schema.ts';
import type { SessionWrite } from './session-write.ts';

/** The model is told of late results of these calls. */
export async function noteLateTold(write: SessionWrite, callIds: readonly string[]): Promise<void> {
  await noteTold(write, callIds, { late_told_at: write.at });
}

/** The last appended item tells the model of these calls, which a reset left behind. */
export async function noteBranchTold(write: SessionWrite, callIds: readonly string[]): Promise<void> {
  await noteTold(write, callIds, { branch_told_seq: write.lastSeq });
}

async function noteTold(
  { trx, writer }: SessionWrite,
  callIds: readonly string[],
  told: Partial<Pick<ToolEffectsTable, 'late_told_at' | 'branch_told_seq'>>,
): Promise<void> {
  for (const ids of chunked(callIds)) {
    await trx
      .updateTable('tool_effects')
      .set(told)
      .where('session_id', '=', writer.sessionId)
      .where('call_id', 'in', ids)
      .execute();
  }
}
