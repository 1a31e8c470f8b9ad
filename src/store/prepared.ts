import {
  type Compilable,
  type CompiledQuery,
  type Insertable,
  type Kysely,
  PostgresAdapter,
  type QueryResult,
} from 'kysely';
import type { DatabaseKind } from './database.ts';
import type { Schema } from './schema.ts';

/** Stands for a value that is given when the query runs. */
class Slot {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

/** Marks the place of a value of `P` in a prepared query. */
export type Value<P> = <K extends keyof P & string>(name: K) => P[K];

type Build<P, O> = (db: Kysely<Schema>, value: Value<P>, kind: DatabaseKind) => Compilable<O>;

/**
 * A query that is built and compiled once for each open database: building costs more than SQLite needs to run it.
 * `value(name)` marks where each run's values go; they must stand where a query takes a parameter.
 */
export function prepared<P extends object, O>(
  build: Build<P, O>,
): (db: Kysely<Schema>, values: P) => Promise<QueryResult<O>> {
  const compiled = new WeakMap<object, CompiledQuery<O>>();
  return (db, values) => {
    const { adapter } = db.getExecutor();
    let query = compiled.get(adapter);
    if (query === undefined) {
      const kind = adapter instanceof PostgresAdapter ? 'postgres' : 'sqlite';
      query = build(db, (name) => new Slot(name) as never, kind).compile();
      compiled.set(adapter, query);
    }
    return db.executeQuery({ ...query, parameters: filled(query.parameters, new Map(Object.entries(values))) });
  };
}

/** Inserts longer than this are compiled each time. */
const MAX_ROWS = 32;

/**
 * An insert of rows that all have the same keys in the same order, compiled once for each number of rows. Rows that
 * are there already are left as they are when `ignore` says so. Returns how many were new.
 */
export function preparedInsert<T extends keyof Schema>(
  table: T,
  ignore: 'conflicts' | 'nothing' = 'nothing',
): (db: Kysely<Schema>, rows: readonly Insertable<Schema[T]>[]) => Promise<number> {
  const compiled = new WeakMap<object, Map<number, CompiledQuery<unknown>>>();
  const compile = (db: Kysely<Schema>, rows: readonly Insertable<Schema[T]>[]): CompiledQuery<unknown> => {
    const insert = db.insertInto(table).values(rows);
    return (ignore === 'conflicts' ? insert.onConflict((conflict) => conflict.doNothing()) : insert).compile();
  };
  return async (db, rows) => {
    if (rows.length === 0) return 0;
    const { adapter } = db.getExecutor();
    const known = compiled.get(adapter) ?? new Map<number, CompiledQuery<unknown>>();
    compiled.set(adapter, known);
    const query = known.get(rows.length) ?? compile(db, rows);
    if (rows.length <= MAX_ROWS) known.set(rows.length, query);
    const parameters = rows.flatMap((row) => Object.values(row));
    const { numAffectedRows } = await db.executeQuery({ ...query, parameters });
    return Number(numAffectedRows ?? 0);
  };
}

function filled(parameters: readonly unknown[], values: ReadonlyMap<string, unknown>): readonly unknown[] {
  return parameters.map((parameter) => (parameter instanceof Slot ? values.get(parameter.name) : parameter));
}
