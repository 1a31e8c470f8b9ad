import { createHash } from 'node:crypto';
import type { MediaRef } from '../transcript/items.ts';
import { type Database, guarded, timestamp } from './database.ts';

/** See {@link Store.putBlob}. The same bytes are stored once; a later name or type of theirs is the caller's to keep. */
export async function putBlob(
  database: Database,
  bytes: Uint8Array,
  mediaType: string,
  name?: string,
): Promise<MediaRef> {
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  await guarded(database, () =>
    database.writer.transaction().execute((trx) =>
      trx
        .insertInto('blobs')
        .values({
          sha256,
          media_type: mediaType,
          byte_length: bytes.byteLength,
          name: name ?? null,
          bytes: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength),
          created_at: timestamp(database),
        })
        .onConflict((conflict) => conflict.doNothing())
        .execute(),
    ),
  );
  return { sha256, mediaType, byteLength: bytes.byteLength, ...(name === undefined ? {} : { name }) };
}

export async function blob(database: Database, sha256: string): Promise<Uint8Array | undefined> {
  return await guarded(database, async () => {
    const row = await database.reader
      .selectFrom('blobs')
      .select('bytes')
      .where('sha256', '=', sha256)
      .executeTakeFirst();
    return row === undefined ? undefined : new Uint8Array(row.bytes);
  });
}
