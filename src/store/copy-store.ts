import { type Kysely, sql, type Transaction } from 'kysely';
import { type Database, guarded } from './database.ts';
import { openDatabase } from './open-store.ts';
import { storeMismatch } from './refusals.ts';
import type { Schema } from './schema.ts';

interface Table {
  /** Columns that order the rows and tell them apart. */
  readonly key: readonly string[];
  /** Rows read at a time: memory is bounded by this many of the largest rows. */
  readonly batch: number;
}

/** Tables in the order in which their rows may be written: what is referred to comes first. */
const TABLES: Readonly<Record<Exclude<keyof Schema, 'conversation_turns'>, Table>> = {
  store_meta: { key: ['key'], batch: 100 },
  sessions: { key: ['session_id'], batch: 500 },
  agent_runs: { key: ['run_id'], batch: 500 },
  messages: { key: ['session_id', 'message_id'], batch: 500 },
  agent_events: { key: ['run_id', 'index'], batch: 500 },
  event_deltas: { key: ['run_id', 'step', 'attempt', 'n'], batch: 500 },
  transcript_items: { key: ['id'], batch: 200 },
  tool_calls: { key: ['session_id', 'call_id'], batch: 200 },
  tool_outputs: { key: ['session_id', 'call_id', 'chunk'], batch: 50 },
  tool_effects: { key: ['session_id', 'call_id'], batch: 500 },
  approvals: { key: ['session_id', 'call_id'], batch: 500 },
  blobs: { key: ['sha256'], batch: 1 },
  requests: { key: ['run_id', 'step'], batch: 100 },
  usage: { key: ['run_id', 'step', 'purpose'], batch: 500 },
  activity_attempts: { key: ['owner', 'activity_id'], batch: 500 },
  session_compactions: { key: ['session_id', 'compaction_id'], batch: 100 },
  compaction_phases: { key: ['compaction_id', 'phase'], batch: 100 },
  view_edits: { key: ['session_id', 'n'], batch: 200 },
  facts: { key: ['fact_id'], batch: 500 },
  budgets: { key: ['run_id', 'step', 'purpose'], batch: 500 },
  budget_runs: { key: ['run_id'], batch: 500 },
  budget_warnings: { key: ['scope', 'limit_name'], batch: 500 },
  model_calibration: { key: ['model'], batch: 500 },
  rate_buckets: { key: ['bucket'], batch: 500 },
  superseded_rows: { key: ['superseded_by', 'table_name', 'n'], batch: 100 },
};

type Row = Readonly<Record<string, unknown>>;

/** Rows copied, by table. */
export type CopyReport = Readonly<Record<string, number>>;

/**
 * Copies a whole store to an empty one, with its id and namespace, so that open runs go on with the copy. The source is
 * locked against writes while it is copied (SQLite) or read as it was at the start (PostgreSQL); stop the workers first.
 *
 * @throws StoreError `StoreMismatch` when the target holds sessions or is the source, `StoreUnavailable`, `StoreTooNew`.
 */
export async function copyStore(from: string, to: string): Promise<CopyReport> {
  const source = await openDatabase(from, {});
  try {
    const target = await openDatabase(to, {});
    try {
      if (target.location === source.location) throw storeMismatch(`The store ${to} cannot be copied onto itself.`);
      return await guarded(source, () =>
        source.writer.transaction().execute(async (reading) => {
          if (source.kind === 'postgres') await sql`set transaction isolation level repeatable read`.execute(reading);
          return await copyInto(reading, target);
        }),
      );
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

async function copyInto(reading: Transaction<Schema>, target: Database): Promise<CopyReport> {
  return await guarded(target, () =>
    target.writer.transaction().execute(async (writing) => {
      const taken = await writing.selectFrom('sessions').select('session_id').limit(1).execute();
      if (taken.length > 0) throw storeMismatch(`The store ${target.location} is not empty.`);
      await writing.deleteFrom('store_meta').execute();
      const report: Record<string, number> = {};
      for (const [name, table] of Object.entries(TABLES)) {
        report[name] = await copyTable(reading, writing, name, table);
      }
      return report;
    }),
  );
}

async function copyTable(
  reading: Kysely<Schema>,
  writing: Kysely<Schema>,
  name: string,
  table: Table,
): Promise<number> {
  let copied = 0;
  let last: Row | undefined;
  for (;;) {
    const rows = await rowsAfter(reading, name, table, last);
    last = rows.at(-1);
    if (last === undefined) return copied;
    await insertRows(writing, name, rows);
    copied += rows.length;
  }
}

async function rowsAfter(
  db: Kysely<Schema>,
  name: string,
  { key, batch }: Table,
  last: Row | undefined,
): Promise<readonly Row[]> {
  const columns = sql.join(key.map((column) => sql.ref(column)));
  const after = last === undefined ? sql`` : sql`where (${columns}) > (${sql.join(key.map((column) => last[column]))})`;
  const query = sql<Row>`select * from ${sql.table(name)} ${after} order by ${columns} limit ${sql.lit(batch)}`;
  return (await query.execute(db)).rows;
}

/** Items get new row ids in the same order: their positions are what counts. */
async function insertRows(db: Kysely<Schema>, name: string, rows: readonly Row[]): Promise<void> {
  const columns = Object.keys(rows[0] ?? {}).filter((column) => name !== 'transcript_items' || column !== 'id');
  const values = rows.map((row) => sql`(${sql.join(columns.map((column) => row[column]))})`);
  const names = sql.join(columns.map((column) => sql.ref(column)));
  await sql`insert into ${sql.table(name)} (${names}) values ${sql.join(values)}`.execute(db);
}
