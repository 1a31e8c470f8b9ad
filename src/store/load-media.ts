import type { MediaRef } from '../transcript/items.ts';
import type { Store } from './store.ts';

/** Reads the bytes that a request refers to, as base64, so that building it stays pure. Those that are gone give `undefined`. */
export async function loadMedia(
  store: Pick<Store, 'blob'>,
  refs: readonly MediaRef[],
): Promise<(media: MediaRef) => string | undefined> {
  const base64 = new Map<string, string>();
  for (const { sha256 } of refs) {
    if (base64.has(sha256)) continue;
    const bytes = await store.blob(sha256);
    if (bytes !== undefined) base64.set(sha256, Buffer.from(bytes).toString('base64'));
  }
  return (media) => base64.get(media.sha256);
}
