import { preparedInsert } from './prepared.ts';
import type { Spending } from './run-totals.ts';
import type { SessionWrite } from './session-write.ts';

/** A paid model call of a run. */
export interface UsageEntry extends Spending {
  readonly runId: string;
  readonly step: number;
  /** `step`, or `compaction/<id>/<phase>`; a further call of the same phase ends in `#2`, `#3` and so on. */
  readonly purpose: string;
  /** `provider/model`. */
  readonly model: string;
}

export async function insertUsage(write: SessionWrite, entries: readonly UsageEntry[]): Promise<void> {
  await insertRows(
    write.trx,
    entries.map(({ runId, step, purpose, model, usage, costUsd }) => ({
      run_id: runId,
      step,
      purpose,
      session_id: write.writer.sessionId,
      model,
      usage_json: usage === null ? null : JSON.stringify(usage),
      cost_usd: costUsd,
      created_at: write.at,
    })),
  );
}

const insertRows = preparedInsert('usage');
