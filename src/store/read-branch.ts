import type { Kysely } from 'kysely';
import type { ToolCall, ToolCallBatch, ToolResult, ToolResultBatch } from '../transcript/items.ts';
import { chunked } from './chunked.ts';
import { textOf } from './readable-text.ts';
import type { BranchEffect } from './reset-port.ts';
import type { Schema } from './schema.ts';

/** See {@link ResetStore.branchEffects}. */
export async function branchEffects(
  db: Kysely<Schema>,
  sessionId: string,
  at: { readonly head: number; readonly owner: string },
): Promise<readonly BranchEffect[]> {
  const parts = await leftBehind(db, sessionId, at);
  const calls = parts.flatMap((item) => (item.kind === 'tool_call_batch' ? item.calls : []));
  const results = new Map(
    parts.flatMap((item) => (item.kind === 'tool_result_batch' ? item.results : [])).map((each) => [each.callId, each]),
  );
  const untold = await untoldOf(
    db,
    sessionId,
    calls.map(({ callId }) => callId),
  );
  return calls.flatMap((call) => (untold.has(call.callId) ? [effectOf(call, untold.get(call.callId), results)] : []));
}

/** Calls and results that a reset left behind or will, oldest first. */
async function leftBehind(
  db: Kysely<Schema>,
  sessionId: string,
  { head, owner }: { readonly head: number; readonly owner: string },
): Promise<readonly (ToolCallBatch | ToolResultBatch)[]> {
  const batches = db
    .selectFrom('transcript_items')
    .select(['id', 'item_json'])
    .where('session_id', '=', sessionId)
    .where('kind', 'in', ['tool_call_batch', 'tool_result_batch']);
  // Two queries in one, each with an index of its own: asked with `or`, SQLite reads the items of all sessions.
  const rows = await batches
    .where('superseded_by', 'is not', null)
    .unionAll(batches.where('superseded_by', 'is', null).where('seq', '>', head).where('owner', '!=', owner))
    .orderBy('id')
    .execute();
  return rows.map((row) => JSON.parse(row.item_json));
}

type Stored = { readonly status: ToolResult['status']; readonly preview: string } | undefined;

function effectOf(call: ToolCall, stored: Stored, results: ReadonlyMap<string, ToolResult>): BranchEffect {
  const { callId, name, arguments: args } = call;
  const result = results.get(callId);
  const status = result?.status ?? stored?.status;
  const text = result === undefined ? (stored?.preview ?? '') : textOf(result.content);
  return { callId, name, arguments: args, ...(status === undefined ? {} : { status }), text };
}

/** Calls among these that began something and of which no live item tells, with what is stored of their ends. */
async function untoldOf(
  db: Kysely<Schema>,
  sessionId: string,
  callIds: readonly string[],
): Promise<ReadonlyMap<string, Stored>> {
  const found = new Map<string, Stored>();
  for (const ids of chunked(callIds)) {
    const rows = await db
      .selectFrom('tool_effects as effect')
      .innerJoin('tool_calls as call', (join) =>
        join.onRef('call.session_id', '=', 'effect.session_id').onRef('call.call_id', '=', 'effect.call_id'),
      )
      .leftJoin('transcript_items as told', (join) =>
        join
          .onRef('told.session_id', '=', 'effect.session_id')
          .onRef('told.seq', '=', 'effect.branch_told_seq')
          .on('told.superseded_by', 'is', null),
      )
      .select(['effect.call_id', 'call.stored_json'])
      .where('effect.session_id', '=', sessionId)
      .where('effect.call_id', 'in', ids)
      .where('told.seq', 'is', null)
      .execute();
    for (const row of rows) found.set(row.call_id, row.stored_json === null ? undefined : JSON.parse(row.stored_json));
  }
  return found;
}
