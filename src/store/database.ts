import type { Kysely, Transaction } from 'kysely';
import type { Schema } from './schema.ts';

export type DatabaseKind = 'sqlite' | 'postgres';

/** The largest value of an `integer` column, and more rows than any store holds: both databases take it. */
export const MAX_INTEGER = 2_147_483_647;

/**
 * An open database: one connection (SQLite) or pool (PostgreSQL) that writes, and one that reads committed rows
 * without waiting for writers. What differs between the two databases stands here and in their two files.
 */
export interface Database {
  readonly kind: DatabaseKind;
  readonly writer: Kysely<Schema>;
  readonly reader: Kysely<Schema>;
  /**
   * A write transaction that a power cut may undo, together with nothing but others like it: the next ordinary commit
   * makes it last. For what is dropped soon anyway, since waiting for the disk costs more than all the rest.
   */
  readonly relaxed: <T>(work: (trx: Transaction<Schema>) => Promise<T>) => Promise<T>;
  /** File or URL, without credentials. */
  readonly location: string;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** What the driver threw as a `StoreError`; anything else comes back untouched: our own bugs stay bugs. */
  readonly translate: (error: unknown) => unknown;
  /** Tells readers in other processes, inside the transaction, that a run has news. */
  readonly announce: (trx: Kysely<Schema>, runId: string) => Promise<void>;
  /** Calls back with the id of a run that has news, or `undefined` when it cannot tell which. Returns how to stop. */
  readonly watch: (listener: (runId: string | undefined) => void) => () => void;
  readonly close: () => Promise<void>;
}

/** Runs `work`, turning what the driver throws into `StoreError`s. */
export async function guarded<T>(database: Pick<Database, 'translate'>, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw database.translate(error);
  }
}

/** An ISO 8601 UTC time of the database's clock. */
export function timestamp(database: Pick<Database, 'now'>): string {
  return new Date(database.now()).toISOString();
}
