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
  if (!(await isStored(database, sha256))) await insertBlob(database, sha256, bytes, mediaType, name);
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

/** Prompts and tools are put again with every run: asking first spares a commit, which waits for the disk. */
async function isStored(database: Database, sha256: string): Promise<boolean> {
  return await guarded(database, async () => {
    const rows = await database.reader.selectFrom('blobs').select('sha256').where('sha256', '=', sha256).execute();
    return rows.length > 0;
  });
}

async function insertBlob(
  database: Database,
  sha256: string,
  bytes: Uint8Array,
  mediaType: string,
  name: string | undefined,
): Promise<void> {
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
}
