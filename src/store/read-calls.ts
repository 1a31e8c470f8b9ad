import type { Kysely } from 'kysely';
import type { ToolResult } from '../transcript/items.ts';
import type { Schema } from './schema.ts';
import type { StoredResult } from './store.ts';

export async function callResult(db: Kysely<Schema>, runId: string, callId: string): Promise<StoredResult | undefined> {
  const row = await db
    .selectFrom('tool_calls')
    .innerJoin('agent_runs', 'agent_runs.session_id', 'tool_calls.session_id')
    .select('tool_calls.stored_json')
    .where('agent_runs.run_id', '=', runId)
    .where('tool_calls.call_id', '=', callId)
    .executeTakeFirst();
  return row === undefined || row.stored_json === null ? undefined : JSON.parse(row.stored_json);
}

/** See {@link Store.lateResult}. */
export async function lateResult(
  db: Kysely<Schema>,
  sessionId: string,
  callId: string,
): Promise<ToolResult | undefined> {
  const row = await db
    .selectFrom('tool_effects')
    .select('late_result_json')
    .where('session_id', '=', sessionId)
    .where('call_id', '=', callId)
    .executeTakeFirst();
  return row === undefined || row.late_result_json === null ? undefined : JSON.parse(row.late_result_json).result;
}
