import { HoldfastError } from '../../contract/errors.ts';
import type { CheckpointRow, PhaseRow } from '../../store/compaction-port.ts';
import type { Store } from '../../store/store.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { type Output, printRows } from '../output.ts';
import type { CompactionResult, ShownCompaction } from '../render/compaction.ts';
import { compactionLines } from '../render/compaction-lines.ts';
import type { Settings } from '../settings.ts';
import { withStore } from '../with-client.ts';

/** All compactions of a session, failed ones too, oldest first. Needs no server. */
export function showCompactions(settings: Settings, named: string, output: Output | undefined): Promise<ExitCode> {
  return withStore(settings, async (store) => {
    const sessionId = (await store.session(named))?.sessionId ?? (await store.run(named))?.sessionId;
    if (sessionId === undefined) throw new HoldfastError('NotFound', `no session or run is called "${named}"`);
    const ends = await store.compactionResults(sessionId);
    const checkpoints = new Map((await store.checkpoints(sessionId)).map((row) => [row.compactionId, row]));
    const rows: ShownCompaction[] = [];
    for (const end of ends) rows.push(await shown(store, end, checkpoints.get(end.compactionId)));
    printRows(output, rows, compactionLines);
    return EXIT.ok;
  });
}

async function shown(store: Store, end: PhaseRow, checkpoint: CheckpointRow | undefined): Promise<ShownCompaction> {
  const used = (await store.phases(end.compactionId)).flatMap(({ usage }) => usage);
  const unpriced = used.some(({ costUsd }) => costUsd === null);
  return {
    ...(end.output as unknown as CompactionResult),
    runId: end.runId,
    at: end.createdAt,
    reason: checkpoint?.reason ?? null,
    calls: used.length,
    spentUsd: unpriced ? null : used.reduce((sum, { costUsd }) => sum + (costUsd ?? 0), 0),
    inputTokens: used.reduce((sum, { usage }) => sum + (usage?.inputTokens ?? 0), 0),
    cachedTokens: used.reduce((sum, { usage }) => sum + (usage?.cacheReadTokens ?? 0), 0),
    outputTokens: used.reduce((sum, { usage }) => sum + (usage?.outputTokens ?? 0), 0),
    firstKeptSeq: checkpoint?.firstKeptSeq ?? null,
    summary: checkpoint?.summary ?? null,
  };
}
