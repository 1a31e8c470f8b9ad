import type { Kysely } from 'kysely';
import { type Database, type DatabaseKind, guarded } from './database.ts';
import type { Schema } from './schema.ts';
import type { RateLimit } from './store.ts';

/** See {@link Store.takeRate}. All buckets or none, in one transaction: workers of one store share them. */
export async function takeRate(database: Database, limits: readonly RateLimit[]): Promise<{ readonly waitMs: number }> {
  if (limits.length === 0) return { waitMs: 0 };
  return guarded(database, () =>
    database.writer.transaction().execute(async (trx) => {
      const nowMs = database.now();
      const levels = [];
      // One order for all, so that two workers never wait for each other.
      for (const limit of limits.toSorted((a, b) => (a.bucket < b.bucket ? -1 : 1))) {
        levels.push({ limit, level: await levelOf(trx, database.kind, limit, nowMs) });
      }
      const waitMs = Math.max(...levels.map(({ limit, level }) => waitOf(limit, level)));
      if (waitMs > 0) return { waitMs };
      for (const { limit, level } of levels) await save(trx, limit, level - limit.amount, nowMs);
      return { waitMs: 0 };
    }),
  );
}

/** What the bucket holds now: it fills evenly, up to one minute's worth. Its row is locked until the transaction ends. */
async function levelOf(
  trx: Kysely<Schema>,
  kind: DatabaseKind,
  { bucket, perMinute }: RateLimit,
  nowMs: number,
): Promise<number> {
  await trx
    .insertInto('rate_buckets')
    .values({ bucket, level: perMinute, updated_ms: nowMs })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  const row = await trx
    .selectFrom('rate_buckets')
    .selectAll()
    .where('bucket', '=', bucket)
    .$if(kind === 'postgres', (query) => query.forUpdate())
    .executeTakeFirst();
  if (row === undefined) return perMinute;
  const elapsedMs = Math.max(0, nowMs - Number(row.updated_ms));
  return Math.min(perMinute, row.level + (elapsedMs * perMinute) / 60_000);
}

/** Milliseconds until the bucket holds enough. One call that wants more than a minute's worth needs a full bucket. */
function waitOf({ perMinute, amount }: RateLimit, level: number): number {
  const missing = Math.min(amount, perMinute) - level;
  return missing <= 1e-9 ? 0 : Math.ceil((missing * 60_000) / perMinute);
}

async function save(trx: Kysely<Schema>, { bucket }: RateLimit, level: number, nowMs: number): Promise<void> {
  await trx
    .insertInto('rate_buckets')
    .values({ bucket, level, updated_ms: nowMs })
    .onConflict((conflict) => conflict.column('bucket').doUpdateSet({ level, updated_ms: nowMs }))
    .execute();
}
