import type { JoinBuilder, Kysely } from 'kysely';
import type { AgentEvent } from '../transcript/events.ts';
import type { OpenApproval } from './approvals-port.ts';
import { prepared, type Value } from './prepared.ts';
import { storable } from './readable-text.ts';
import type { Schema } from './schema.ts';
import type { SessionWrite } from './session-write.ts';

type Asked = Extract<AgentEvent, { type: 'approval_requested' }>;
type Decided = Extract<AgentEvent, { type: 'approval_resolved' }>;

/** Keeps a question to people, and that the run waits for its answer. */
export async function noteAsked(write: SessionWrite, runId: string, event: Asked): Promise<void> {
  await write.trx
    .insertInto('approvals')
    .values({
      session_id: write.writer.sessionId,
      call_id: event.callId,
      run_id: runId,
      step: event.step,
      name: storable(event.name),
      label: storable(event.label),
      arguments_hash: event.argumentsHash,
      deadline: event.deadline,
      asked_at: write.at,
      decision: null,
      decided_by: null,
      decided_at: null,
    })
    .execute();
  await setStatus(write, runId, 'waiting');
}

/** Keeps the answer; the run goes on when it was the last one that was missing. */
export async function noteDecided(write: SessionWrite, runId: string, event: Decided): Promise<void> {
  const { sessionId } = write.writer;
  await write.trx
    .updateTable('approvals')
    .set({ decision: event.decision, decided_by: storable(event.by), decided_at: write.at })
    .where('session_id', '=', sessionId)
    .where('call_id', '=', event.callId)
    .execute();
  const open = await write.trx
    .selectFrom('approvals')
    .innerJoin('tool_calls', joinsCall)
    .select('approvals.call_id')
    .where('approvals.session_id', '=', sessionId)
    .where('approvals.run_id', '=', runId)
    .where('approvals.decision', 'is', null)
    .where('tool_calls.stored_json', 'is', null)
    .limit(1)
    .execute();
  if (open.length === 0) await setStatus(write, runId, 'running');
}

/** Whether the run waits for people, as its row says while it is open. */
export async function setStatus(write: SessionWrite, runId: string, status: 'running' | 'waiting'): Promise<void> {
  await write.trx
    .updateTable('agent_runs')
    .set({ status })
    .where('run_id', '=', runId)
    .where('completed_at', 'is', null)
    .execute();
}

/** The events without an answer that was kept before: a call is decided once. */
export async function undecided(write: SessionWrite, events: readonly AgentEvent[]): Promise<readonly AgentEvent[]> {
  const answer = events.find((event) => event.type === 'approval_resolved');
  if (answer === undefined) return events;
  const { callId } = answer;
  const [row] = (await decisionRow(write.trx, { sessionId: write.writer.sessionId, callId })).rows;
  return row === undefined || row.decision === null ? events : events.filter((event) => event !== answer);
}

const decisionRow = prepared((db, value: Value<{ sessionId: string; callId: string }>) =>
  db
    .selectFrom('approvals')
    .select('decision')
    .where('session_id', '=', value('sessionId'))
    .where('call_id', '=', value('callId')),
);

/** See {@link Store.grants}. */
export async function grantsOf(db: Kysely<Schema>, sessionId: string): Promise<readonly string[]> {
  const { rows } = await grantRows(db, { sessionId });
  return rows.map(({ name }) => name);
}

const grantRows = prepared((db, value: Value<{ sessionId: string }>) =>
  db
    .selectFrom('approvals')
    .select('name')
    .distinct()
    .where('session_id', '=', value('sessionId'))
    .where('decision', '=', 'approve_session')
    .orderBy('name'),
);

/** See {@link Store.openApprovals}. */
export async function openApprovals(db: Kysely<Schema>, sessionId?: string): Promise<readonly OpenApproval[]> {
  const rows = await db
    .selectFrom('approvals')
    .innerJoin('tool_calls', joinsCall)
    .innerJoin('agent_runs', 'agent_runs.run_id', 'approvals.run_id')
    .selectAll('approvals')
    .where('approvals.decision', 'is', null)
    .where('tool_calls.stored_json', 'is', null)
    .where('agent_runs.completed_at', 'is', null)
    .$if(sessionId !== undefined, (query) => query.where('approvals.session_id', '=', sessionId ?? ''))
    .orderBy('approvals.deadline')
    .orderBy('approvals.session_id')
    .orderBy('approvals.call_id')
    .execute();
  return rows.map((row) => ({
    sessionId: row.session_id,
    runId: row.run_id,
    step: row.step,
    callId: row.call_id,
    name: row.name,
    label: row.label,
    argumentsHash: row.arguments_hash,
    deadline: row.deadline,
    askedAt: row.asked_at,
  }));
}

function joinsCall(join: JoinBuilder<Schema, 'approvals' | 'tool_calls'>) {
  return join
    .onRef('tool_calls.session_id', '=', 'approvals.session_id')
    .onRef('tool_calls.call_id', '=', 'approvals.call_id');
}
