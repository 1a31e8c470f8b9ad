import type { ExpressionBuilder, Kysely } from 'kysely';
import { caseFolded, holdsAll, wordsOf } from './case-fold.ts';
import type { FactKind, FactQuery, FactRow, FactScope, FactStatus } from './facts-port.ts';
import type { FactsTable, Schema } from './schema.ts';

/** See {@link Store.facts}. */
export async function factsOf(db: Kysely<Schema>, query: FactQuery): Promise<readonly FactRow[]> {
  const { kinds, statuses, limit } = query;
  const words = wordsOf(query.words ?? '');
  if (kinds?.length === 0 || statuses?.length === 0) return [];
  const rows = await db
    .selectFrom('facts')
    .selectAll()
    .where((row) => inScope(row, query))
    .$if(kinds !== undefined, (all) => all.where('kind', 'in', kinds ?? []))
    .$if(statuses !== undefined, (all) => all.where('status', 'in', statuses ?? []))
    .orderBy('created_at', 'desc')
    // Facts of one flush share their time: what was said later is newer.
    .orderBy((row) => row.fn.coalesce('source_seq', row.lit(0)), 'desc')
    .orderBy('fact_id')
    .$if(limit !== undefined && words.length === 0, (all) => all.limit(limit ?? 0))
    .execute();
  const found = words.length === 0 ? rows : rows.filter((row) => holdsAll(caseFolded(row.text), words));
  return found.slice(0, limit ?? found.length).map(toFactRow);
}

function inScope(row: ExpressionBuilder<Schema, 'facts'>, { sessionId, scope }: FactQuery) {
  const workspace = row('scope', '=', 'workspace');
  const session = row('scope', '=', 'session');
  const own = sessionId === undefined ? session : row.and([session, row('session_id', '=', sessionId)]);
  if (scope !== undefined) return scope === 'session' ? own : workspace;
  return sessionId === undefined ? workspace : row.or([own, workspace]);
}

export function toFactRow(row: FactsTable): FactRow {
  return {
    factId: row.fact_id,
    sessionId: row.session_id,
    scope: row.scope as FactScope,
    kind: row.kind as FactKind,
    text: row.text,
    status: row.status as FactStatus,
    sourceSeq: row.source_seq,
    source: JSON.parse(row.source_json),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
