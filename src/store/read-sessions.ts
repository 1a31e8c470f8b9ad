import { type Kysely, type RawBuilder, type SqlBool, sql } from 'kysely';
import type { RunStatus } from '../transcript/events.ts';
import type { Schema } from './schema.ts';
import type { SessionRow, Store } from './store.ts';

export async function sessionById(db: Kysely<Schema>, sessionId: string): Promise<SessionRow | undefined> {
  return await sessionRows(db).where('sessions.session_id', '=', sessionId).executeTakeFirst();
}

/** See {@link Store.sessions}. */
export async function sessionPage(
  db: Kysely<Schema>,
  page: Parameters<Store['sessions']>[0],
): Promise<readonly SessionRow[]> {
  const { under } = page;
  const query = sessionRows(db)
    .$if(under !== undefined, (all) => all.where(isUnder(under ?? '')))
    .$if(page.top === true, (all) => all.where('sessions.session_id', 'not like', '%/sub/%'))
    .orderBy('sessions.updated_at', 'desc')
    .orderBy('sessions.session_id', 'desc')
    .limit(page.limit);
  if (page.before === undefined) return await query.execute();
  const [updatedAt = '', sessionId = ''] = page.before.split(' ', 2);
  const older = sql<boolean>`(sessions.updated_at, sessions.session_id) < (${updatedAt}, ${sessionId})`;
  return await query.where(older).execute();
}

/** Exact whatever the collation and the characters of the id, which `like` would read as wildcards. */
function isUnder(sessionId: string): RawBuilder<SqlBool> {
  const prefix = `${sessionId}/sub/`;
  return sql<SqlBool>`substr(sessions.session_id, 1, ${sql.lit(prefix.length)}) = ${prefix}`;
}

/** Sessions with their latest run, whose number is the count of runs. */
function sessionRows(db: Kysely<Schema>) {
  const latest = sql<number>`(select max(r.run_number) from agent_runs as r where r.session_id = sessions.session_id)`;
  return db
    .selectFrom('sessions')
    .leftJoin('agent_runs', (join) =>
      join.onRef('agent_runs.session_id', '=', 'sessions.session_id').on('agent_runs.run_number', '=', latest),
    )
    .select([
      'sessions.session_id as sessionId',
      'sessions.created_at as createdAt',
      'sessions.updated_at as updatedAt',
      'sessions.title as title',
      'sessions.last_seq as lastSeq',
      'agent_runs.run_id as lastRunId',
      sql<number>`coalesce(agent_runs.run_number, 0)`.as('runs'),
      sql<RunStatus | null>`agent_runs.status`.as('lastStatus'),
    ]);
}
