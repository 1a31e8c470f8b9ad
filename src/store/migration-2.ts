import { type Kysely, sql } from 'kysely';
import type { Schema } from './schema.ts';

/** What resets put aside, and whether the model was told of what had been done there. */
const STATEMENTS: readonly string[] = [
  `create table superseded_rows (
    superseded_by text not null,
    table_name text not null,
    n integer not null,
    session_id text not null references sessions (session_id),
    row_json text not null,
    created_at text not null,
    primary key (superseded_by, table_name, n))`,
  `alter table tool_effects add column branch_told_seq integer`,
  `create index transcript_items_superseded on transcript_items (session_id) where superseded_by is not null`,
];

export async function addSupersededRows(trx: Kysely<Schema>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(trx);
}
