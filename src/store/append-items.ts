import { type AgentItem, ITEM_SCHEMA_VERSION, type ToolCallBatch } from '../transcript/items.ts';
import { preparedInsert } from './prepared.ts';
import { readableText, storable } from './readable-text.ts';
import { refused } from './refusals.ts';
import type { SessionWrite } from './session-write.ts';

/** Where appended items belong. */
export interface Place {
  readonly runId: string;
  readonly step: number;
}

/**
 * Appends items at the next positions.
 *
 * @throws StoreError `Internal` when the transcript would not stay valid: anything but its results after an open batch,
 * results without one, a batch that is not the last item, a summary (those exist in views only), a call id used before.
 */
export async function appendItems(write: SessionWrite, place: Place, items: readonly AgentItem[]): Promise<void> {
  if (items.length === 0) return;
  const rows = items.map((item, index) => {
    checkPlace(write, item, index === items.length - 1);
    write.lastSeq += 1;
    if (item.kind === 'tool_call_batch') write.openBatchSeq = write.lastSeq;
    if (item.kind === 'tool_result_batch') write.openBatchSeq = null;
    return rowOf(write, place, item);
  });
  write.changed = true;
  await insertItems(write.trx, rows);
  for (const item of items) if (item.kind === 'tool_call_batch') await registerCalls(write, place, item);
}

function checkPlace(write: SessionWrite, item: AgentItem, last: boolean): void {
  const open = write.openBatchSeq;
  if (item.kind === 'compaction_summary') throw refused('A compaction summary is made in views, never stored.');
  if (item.kind === 'tool_result_batch') {
    if (open === null) throw refused('A result batch needs an open batch before it.');
    return;
  }
  if (open !== null) throw refused(`The batch at item ${open} has no results yet: nothing may follow it.`);
  if (item.kind === 'tool_call_batch' && !last) throw refused('A batch is the last item of its response.');
  if (item.kind === 'tool_call_batch' && item.calls.length === 0) throw refused('A batch has at least one call.');
}

function rowOf(write: SessionWrite, place: Place, item: AgentItem) {
  return {
    session_id: write.writer.sessionId,
    seq: write.lastSeq,
    run_id: place.runId,
    step: place.step,
    kind: item.kind,
    origin: item.kind === 'user_message' ? item.origin : null,
    schema_version: ITEM_SCHEMA_VERSION,
    item_json: JSON.stringify(item),
    readable: readableText(item),
    owner: write.writer.owner,
    superseded_by: null,
    created_at: write.at,
  };
}

const insertItems = preparedInsert('transcript_items');

/** Call ids are unique in the session: the insert takes fewer rows when one is known, and then nothing is kept. */
async function registerCalls(write: SessionWrite, place: Place, batch: ToolCallBatch): Promise<void> {
  const session_id = write.writer.sessionId;
  const taken = await insertCalls(
    write.trx,
    batch.calls.map((call) => ({
      session_id,
      call_id: call.callId,
      run_id: place.runId,
      step: place.step,
      name: storable(call.name),
      started_at: null,
      attempt: 0,
      stored_json: null,
      result_json: null,
      output_units: null,
      completed_at: null,
    })),
  );
  if (taken !== batch.calls.length) throw refused('A call id was used before in this session.');
}

const insertCalls = preparedInsert('tool_calls', 'conflicts');
