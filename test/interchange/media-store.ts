import { createHash } from 'node:crypto';
import type { MediaRef } from '../../src/transcript/items.ts';

/** Keeps bytes in memory, for both ways. */
export function mediaStore() {
  const kept = new Map<string, string>();
  return {
    storeMedia: (base64: string, mediaType: string, name?: string): MediaRef => {
      const bytes = Buffer.from(base64, 'base64');
      const sha256 = createHash('sha256').update(bytes).digest('hex');
      kept.set(sha256, base64);
      return { sha256, mediaType, byteLength: bytes.length, ...(name === undefined ? {} : { name }) };
    },
    media: ({ sha256 }: MediaRef) => kept.get(sha256),
  };
}
