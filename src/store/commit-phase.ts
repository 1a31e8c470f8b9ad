import { appendEvents } from './append-events.ts';
import { settleBudget } from './budgets.ts';
import type { CommitPhase, CommittedPhase, SideUsage } from './compaction-port.ts';
import { insertPhase, storedPhase } from './phase-rows.ts';
import { insertFacts } from './put-facts.ts';
import { refused } from './refusals.ts';
import { isClosed, type Run } from './run-state.ts';
import { addToTotals } from './run-totals.ts';
import { type RunWrite, writeRun } from './run-write.ts';
import type { SessionWrite } from './session-write.ts';
import { insertUsage } from './usage-rows.ts';
import { appendEdits } from './view-edit-rows.ts';

/** See {@link Store.commitPhase}. */
export async function commitPhase(target: RunWrite, input: CommitPhase): Promise<CommittedPhase> {
  return await writeRun(target, async (write, run) => {
    const before = await phaseBefore(write, run, input);
    if (before !== undefined) return before;
    const { edits = [], facts = [], usage = [], revision } = input;
    if (revision === undefined && edits.length > 0) throw refused('View edits name the revision they were made for.');
    if (revision !== undefined && revision !== write.viewRevision) {
      return { status: 'stale', revision: write.viewRevision };
    }
    await insertPhase(write, input);
    await appendEdits(write, input.compactionId, edits);
    await insertFacts(write.trx, { sessionId: write.writer.sessionId, at: write.at }, facts);
    await pay(write, run, input, usage);
    await appendEvents(write, input.ref.runId, input.events);
    return { status: 'committed', output: input.output, revision: write.viewRevision };
  });
}

/** What is there already: a closed run, or the outcome of whoever was first. */
export async function phaseBefore(
  write: SessionWrite,
  run: Run,
  { compactionId, phase }: Pick<CommitPhase, 'compactionId' | 'phase'>,
): Promise<CommittedPhase | undefined> {
  if (isClosed(run.status)) return { status: 'closed', runStatus: run.status };
  const stored = await storedPhase(write.trx, compactionId, phase);
  if (stored === undefined) return undefined;
  if (stored.runId !== run.run_id) throw refused(`Compaction ${compactionId} is of run ${stored.runId}.`);
  return { status: 'committed', output: stored.output, revision: write.viewRevision };
}

async function pay(
  write: SessionWrite,
  run: Run,
  { compactionId, phase, step, budget }: CommitPhase,
  spent: readonly SideUsage[],
): Promise<void> {
  const purpose = `compaction/${compactionId}/${phase}`;
  if (budget !== undefined) await settleBudget(write, { runId: run.run_id, step, purpose }, budget);
  if (spent.length === 0) return;
  await insertUsage(
    write,
    spent.map((entry, at) => ({
      ...entry,
      runId: run.run_id,
      step,
      purpose: at === 0 ? purpose : `${purpose}#${at + 1}`,
    })),
  );
  await addToTotals(write, run, { steps: 0, spent });
}
