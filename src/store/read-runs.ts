import type { Kysely } from 'kysely';
import { costOf, usageOf } from './end-run.ts';
import { asRun } from './run-state.ts';
import type { AgentRunsTable, RequestsTable, Schema } from './schema.ts';
import type { RequestRow, RunRow } from './store.ts';

export async function runRow(db: Kysely<Schema>, runId: string): Promise<RunRow | undefined> {
  const rows = await db.selectFrom('agent_runs').selectAll().where('run_id', '=', runId).execute();
  return (await withMessages(db, rows))[0];
}

export async function runsOf(db: Kysely<Schema>, sessionId: string): Promise<readonly RunRow[]> {
  const query = db.selectFrom('agent_runs').selectAll().where('session_id', '=', sessionId).orderBy('run_number');
  return await withMessages(db, await query.execute());
}

async function withMessages(db: Kysely<Schema>, rows: readonly AgentRunsTable[]): Promise<readonly RunRow[]> {
  if (rows.length === 0) return [];
  const ids = rows.map((row) => row.run_id);
  const messages = await db
    .selectFrom('messages')
    .select(['run_id', 'message_id'])
    .where('run_id', 'in', ids)
    .orderBy('accepted_at')
    .orderBy('message_id')
    .execute();
  return rows.map((row) => {
    const mine = messages.filter((message) => message.run_id === row.run_id);
    return toRunRow(
      row,
      mine.map((message) => message.message_id),
    );
  });
}

function toRunRow(row: AgentRunsTable, messageIds: readonly string[]): RunRow {
  const run = asRun(row);
  return {
    runId: run.run_id,
    sessionId: run.session_id,
    status: run.status,
    agent: run.agent,
    model: run.model,
    startedAt: run.started_at,
    completedAt: run.completed_at,
    steps: run.steps,
    usage: usageOf(run),
    costUsd: costOf(run),
    owner: run.owner,
    messageIds,
    config: JSON.parse(run.config_json),
  };
}

export async function requestsOf(
  db: Kysely<Schema>,
  runId: string,
  step: number | undefined,
): Promise<readonly RequestRow[]> {
  const rows = await db
    .selectFrom('requests')
    .leftJoin('usage', (join) =>
      join
        .onRef('usage.run_id', '=', 'requests.run_id')
        .onRef('usage.step', '=', 'requests.step')
        .on('usage.purpose', '=', 'step'),
    )
    .selectAll('requests')
    .select(['usage.usage_json', 'usage.cost_usd'])
    .where('requests.run_id', '=', runId)
    .$if(step !== undefined, (query) => query.where('requests.step', '=', step ?? 0))
    .orderBy('requests.step')
    .execute();
  return rows.map(toRequestRow);
}

function toRequestRow(
  row: RequestsTable & { readonly usage_json: string | null; readonly cost_usd: number | null },
): RequestRow {
  return {
    runId: row.run_id,
    step: row.step,
    model: row.model,
    request: parsed(row.request_json),
    usage: parsed(row.usage_json),
    costUsd: row.cost_usd,
    outcome: parsed(row.outcome_json),
    headAtBegin: row.head_at_begin,
  };
}

function parsed<T>(json: string | null): T | null {
  return json === null ? null : JSON.parse(json);
}
