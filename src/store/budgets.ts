import { type Kysely, sql } from 'kysely';
import { appendEvents } from './append-events.ts';
import type {
  BudgetLimits,
  BudgetRoot,
  BudgetSettlement,
  BudgetUse,
  ReserveBudget,
  ReservedBudget,
  RunBudgets,
} from './budget-port.ts';
import { isClosed } from './run-state.ts';
import { type RunWrite, writeRun } from './run-write.ts';
import type { Schema } from './schema.ts';
import type { SessionWrite } from './session-write.ts';

/** Share of a limit whose use is told. */
const WARNS_AT = 0.8;
/** Sums of dollars are not exact. */
const ROUNDING = 1e-9;

/** See {@link BudgetStore.reserveBudget}. A power cut may undo it: the call it was for is then made anew. */
export async function reserveBudget(target: RunWrite, input: ReserveBudget): Promise<ReservedBudget> {
  return await writeRun(
    target,
    async (write, run) => {
      if (isClosed(run.status)) return { status: 'closed', head: write.lastSeq, runStatus: run.status };
      return await reserved(write, run.run_id, input);
    },
    { relaxed: true },
  );
}

async function reserved(write: SessionWrite, runId: string, input: ReserveBudget): Promise<ReservedBudget> {
  await release(write.trx, runId);
  await noteRun(write, runId, input);
  const uses = await usesOf(write.trx, { runId, root: input.root }, input.budgets, input.workedMs);
  await warn(write, runId, uses);
  for (const use of uses) {
    const wanted = wantedOf(use.limit, input);
    if (use.limit === 'maxDurationMs' ? use.used >= use.max : use.used + wanted > use.max + ROUNDING) {
      return { status: 'exhausted', use, wanted };
    }
  }
  const { step, purpose, root, tokens, usd } = input;
  await write.trx
    .insertInto('budgets')
    .values({
      run_id: runId,
      step,
      purpose,
      root_run_id: root.runId,
      root_session_id: root.sessionId,
      reserved_tokens: tokens,
      reserved_usd: usd ?? 0,
      settled_tokens: null,
      settled_usd: null,
      created_at: write.at,
    })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  return { status: 'reserved' };
}

function wantedOf(limit: keyof BudgetLimits, { tokens, usd }: ReserveBudget): number {
  switch (limit) {
    case 'maxTokens':
      return tokens;
    case 'maxUsd':
      return usd ?? 0;
    case 'maxDurationMs':
      return 0;
  }
}

async function release(trx: Kysely<Schema>, runId: string): Promise<void> {
  await trx.deleteFrom('budgets').where('run_id', '=', runId).where('settled_tokens', 'is', null).execute();
}

/** Puts the run among those of its root, and locks the root's row: runs of one tree reserve one after the other. */
async function noteRun(write: SessionWrite, runId: string, input: ReserveBudget): Promise<void> {
  const { root, extension, workedMs } = input;
  await putRun(write, root.runId, root);
  await write.trx
    .selectFrom('budget_runs')
    .select('run_id')
    .where('run_id', '=', root.runId)
    .$if(write.database.kind === 'postgres', (query) => query.forUpdate())
    .execute();
  await putRun(write, runId, root);
  await write.trx
    .updateTable('budget_runs')
    .set({
      ...(extension === undefined
        ? {}
        : {
            extra_usd: extension.maxUsd ?? 0,
            extra_tokens: extension.maxTokens ?? 0,
            extra_ms: extension.maxDurationMs ?? 0,
          }),
      ...(workedMs === undefined ? {} : { worked_ms: workedMs }),
      updated_at: write.at,
    })
    .where('run_id', '=', runId)
    .execute();
}

async function putRun(write: SessionWrite, runId: string, root: BudgetRoot): Promise<void> {
  await write.trx
    .insertInto('budget_runs')
    .values({
      run_id: runId,
      root_run_id: root.runId,
      root_session_id: root.sessionId,
      extra_usd: 0,
      extra_tokens: 0,
      extra_ms: 0,
      worked_ms: 0,
      updated_at: write.at,
    })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** One limited whole: a run with all that it delegated, or a session. */
type Scope = Pick<BudgetUse, 'scope' | 'id'>;

/** How much of each limit is used. `workedMs` is the run's own time, where it is known better than it is stored. */
export async function usesOf(
  db: Kysely<Schema>,
  { runId, root }: { readonly runId: string; readonly root: BudgetRoot },
  budgets: RunBudgets,
  workedMs?: number,
): Promise<readonly BudgetUse[]> {
  const scopes: readonly (readonly [Scope, BudgetLimits | undefined])[] = [
    [{ scope: 'run', id: root.runId }, budgets.run],
    [{ scope: 'session', id: root.sessionId }, budgets.session],
    [{ scope: 'run', id: runId }, budgets.own],
  ];
  const uses: BudgetUse[] = [];
  for (const [scope, limits] of scopes) {
    if (limits === undefined) continue;
    const extra = await extraOf(db, scope);
    const used = { ...(await spentBy(db, scope)), maxDurationMs: await workedBy(db, scope, runId, workedMs) };
    for (const limit of LIMITS) {
      const max = limits[limit];
      if (max !== undefined) uses.push({ ...scope, limit, max: max + extra[limit], used: used[limit] });
    }
  }
  return uses;
}

const LIMITS = ['maxUsd', 'maxTokens', 'maxDurationMs'] as const satisfies readonly (keyof BudgetLimits)[];

function runsOf({ scope, id }: Scope) {
  return scope === 'run'
    ? sql`(select run_id from budget_runs where root_run_id = ${id} union select run_id from agent_runs where run_id = ${id})`
    : sql`(select run_id from budget_runs where root_session_id = ${id} union select run_id from agent_runs where session_id = ${id})`;
}

/** What runs have used, what calls used of which the provider told nothing, and what calls under way may use. */
async function spentBy(
  db: Kysely<Schema>,
  scope: Scope,
): Promise<{ readonly maxUsd: number; readonly maxTokens: number }> {
  const runs = await sql<{ usd: number; tokens: number }>`
    select coalesce(sum(cost_usd), 0) as usd, coalesce(sum(input_tokens + output_tokens), 0) as tokens
    from agent_runs where run_id in ${runsOf(scope)}`.execute(db);
  const calls = await sql<{ usd: number; tokens: number }>`
    select coalesce(sum(coalesce(b.settled_usd, b.reserved_usd)), 0) as usd,
      coalesce(sum(coalesce(b.settled_tokens, b.reserved_tokens)), 0) as tokens
    from budgets b join agent_runs r on r.run_id = b.run_id
    where (b.settled_tokens is not null or r.completed_at is null) and b.run_id in ${runsOf(scope)}`.execute(db);
  const sum = (column: 'usd' | 'tokens') =>
    [...runs.rows, ...calls.rows].reduce((total, row) => total + Number(row[column]), 0);
  return { maxUsd: sum('usd'), maxTokens: sum('tokens') };
}

/** A run that waits for what it delegated works meanwhile: of a tree only the root's time counts, and the asking run's. */
async function workedBy(
  db: Kysely<Schema>,
  { scope, id }: Scope,
  runId: string,
  workedMs: number | undefined,
): Promise<number> {
  const rows = await db
    .selectFrom('budget_runs')
    .select(['run_id', 'root_run_id', 'worked_ms'])
    .where((where) =>
      scope === 'session'
        ? where('root_session_id', '=', id)
        : where.or([where('root_run_id', '=', id), where('run_id', '=', id)]),
    )
    .execute();
  const own = workedMs ?? Number(rows.find((row) => row.run_id === runId)?.worked_ms ?? 0);
  return rows
    .filter((row) => row.run_id === row.root_run_id && row.run_id !== runId)
    .reduce((total, row) => (scope === 'run' && row.run_id !== id ? total : total + Number(row.worked_ms)), own);
}

async function extraOf(db: Kysely<Schema>, scope: Scope): Promise<Required<BudgetLimits>> {
  const { rows } = await sql<{ usd: number; tokens: number; ms: number }>`
    select coalesce(sum(extra_usd), 0) as usd, coalesce(sum(extra_tokens), 0) as tokens, coalesce(sum(extra_ms), 0) as ms
    from budget_runs where run_id in ${runsOf(scope)}`.execute(db);
  const [row] = rows;
  return {
    maxUsd: Number(row?.usd ?? 0),
    maxTokens: Number(row?.tokens ?? 0),
    maxDurationMs: Number(row?.ms ?? 0),
  };
}

/** Tells readers once for each limit that little of it is left. */
async function warn(write: SessionWrite, runId: string, uses: readonly BudgetUse[]): Promise<void> {
  for (const { scope, id, limit, used, max } of uses.filter((use) => use.used >= WARNS_AT * use.max)) {
    const { numInsertedOrUpdatedRows } = await write.trx
      .insertInto('budget_warnings')
      .values({ scope: `${scope}/${id}`, limit_name: limit, run_id: runId, created_at: write.at })
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirst();
    if (numInsertedOrUpdatedRows === 0n) continue;
    await appendEvents(write, runId, [{ type: 'budget_warning', scope, ...inWords({ limit, used, max }) }]);
  }
}

/** As settings name the limit: durations in seconds. */
function inWords({ limit, used, max }: Pick<BudgetUse, 'limit' | 'used' | 'max'>) {
  return limit === 'maxDurationMs'
    ? { limit: 'maxDuration', used: Math.round(used / 1000), max: Math.round(max / 1000) }
    : { limit, used, max };
}

/** Ends the reservation of a call whose outcome is being committed. */
export async function settleBudget(
  { trx }: SessionWrite,
  call: { readonly runId: string; readonly step: number; readonly purpose: string },
  { unreported, workedMs }: BudgetSettlement,
): Promise<void> {
  const { runId, step, purpose } = call;
  if (unreported !== undefined) {
    await trx
      .updateTable('budgets')
      .set({ settled_tokens: unreported.tokens, settled_usd: unreported.usd ?? 0 })
      .where('run_id', '=', runId)
      .where('step', '=', step)
      .where('purpose', '=', purpose)
      .where('settled_tokens', 'is', null)
      .execute();
  }
  await release(trx, runId);
  if (workedMs === undefined) return;
  await trx.updateTable('budget_runs').set({ worked_ms: workedMs }).where('run_id', '=', runId).execute();
}

/** See {@link BudgetStore.budgets}. */
export async function budgetsOf(db: Kysely<Schema>, runId: string): Promise<readonly BudgetUse[]> {
  const row = await db
    .selectFrom('agent_runs')
    .select(['session_id', 'config_json'])
    .where('run_id', '=', runId)
    .executeTakeFirst();
  if (row === undefined) return [];
  const config = JSON.parse(row.config_json) as { readonly root?: BudgetRoot; readonly budgets?: RunBudgets };
  if (config.budgets === undefined) return [];
  const root = config.root ?? { runId, sessionId: row.session_id };
  return await usesOf(db, { runId, root }, config.budgets);
}
