import type { Kysely } from 'kysely';
import type { ToolResult } from '../transcript/items.ts';
import { prepared, type Value } from './prepared.ts';
import type { Schema } from './schema.ts';
import type { LateResult, StoredResult } from './store.ts';

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

/** See {@link Store.lateResults}. */
export async function lateResults(db: Kysely<Schema>, sessionId: string): Promise<readonly LateResult[]> {
  const { rows } = await untold(db, { sessionId });
  return rows.map((row) => ({
    callId: row.call_id,
    name: row.name,
    result: JSON.parse(row.late_result_json ?? '{}').result,
  }));
}

const untold = prepared((db, value: Value<{ sessionId: string }>) =>
  db
    .selectFrom('tool_effects')
    .select(['call_id', 'name', 'late_result_json'])
    .where('session_id', '=', value('sessionId'))
    .where('late_result_json', 'is not', null)
    .where('late_told_at', 'is', null)
    .where('completed_at', 'is', null)
    .orderBy('started_at')
    .orderBy('call_id'),
);

/** See {@link Store.hasActed}. */
export async function hasActed(db: Kysely<Schema>, runId: string, fromStep: number): Promise<boolean> {
  const rows = await db
    .selectFrom('tool_effects as effect')
    .innerJoin('tool_calls as call', (join) =>
      join.onRef('call.session_id', '=', 'effect.session_id').onRef('call.call_id', '=', 'effect.call_id'),
    )
    .select('call.stored_json')
    .where('call.run_id', '=', runId)
    .where('call.step', '>=', fromStep)
    .execute();
  return rows.some((row) => row.stored_json === null || JSON.parse(row.stored_json).status !== 'denied');
}
