import { readFile } from 'node:fs/promises';
import { basename, extname } from 'node:path';
import type { HoldfastClient } from '../client/holdfast-client.ts';
import { HoldfastError } from '../contract/errors.ts';
import type { MediaRef } from '../transcript/items.ts';

/** Media types by file name (IANA); anything else is sent as bytes. */
const MEDIA_TYPES: Readonly<Record<string, string>> = {
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.gif': 'image/gif',
  '.webp': 'image/webp',
  '.mp3': 'audio/mpeg',
  '.wav': 'audio/wav',
  '.pdf': 'application/pdf',
  '.txt': 'text/plain',
  '.md': 'text/markdown',
  '.json': 'application/json',
  '.csv': 'text/csv',
};

/** Stores the named files. @throws HoldfastError `InvalidInput` for one that cannot be read. */
export async function attachments(client: HoldfastClient, files: readonly string[]): Promise<readonly MediaRef[]> {
  const refs: MediaRef[] = [];
  for (const file of files) {
    const mediaType = MEDIA_TYPES[extname(file).toLowerCase()] ?? 'application/octet-stream';
    refs.push(await client.attach(await bytesOf(file), mediaType, basename(file)));
  }
  return refs;
}

async function bytesOf(file: string): Promise<Uint8Array> {
  try {
    return await readFile(file);
  } catch (error) {
    throw new HoldfastError('InvalidInput', `${file} cannot be read`, {
      cause: error,
      hint: 'Attach a file that exists.',
    });
  }
}
