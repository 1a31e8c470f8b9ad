import type { Kysely } from 'kysely';
import { prepared, type Value } from './prepared.ts';
import type { Schema } from './schema.ts';
import type { SessionWrite } from './session-write.ts';
import type { CommitStep } from './store.ts';

/** Keeps what a response taught about estimates of its model. */
export async function saveCalibration(
  write: SessionWrite,
  { model, factor }: NonNullable<CommitStep['calibration']>,
): Promise<void> {
  await upsert(write.trx, { model, factor, at: write.at });
}

/** See {@link Store.calibration}. */
export async function calibrationOf(db: Kysely<Schema>, model: string): Promise<number | undefined> {
  const row = await db.selectFrom('model_calibration').select('factor').where('model', '=', model).executeTakeFirst();
  return row?.factor;
}

const upsert = prepared((db, value: Value<{ model: string; factor: number; at: string }>) =>
  db
    .insertInto('model_calibration')
    .values({ model: value('model'), factor: value('factor'), samples: 1, updated_at: value('at') })
    .onConflict((conflict) =>
      conflict.column('model').doUpdateSet((row) => ({
        factor: row.ref('excluded.factor'),
        samples: row('model_calibration.samples', '+', 1),
        updated_at: row.ref('excluded.updated_at'),
      })),
    ),
);
