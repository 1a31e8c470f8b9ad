import type { MediaLookup } from '../providers/provider.ts';
import type { Store } from '../store/store.ts';
import type { MediaRef } from '../transcript/items.ts';
import type { MessageRequest } from '../transcript/message.ts';

/** Reads the bytes that a request refers to, so that building it stays pure. */
export async function loadMedia(store: Store, refs: readonly MediaRef[]): Promise<MediaLookup> {
  const base64 = new Map<string, string>();
  for (const { sha256 } of refs) {
    if (base64.has(sha256)) continue;
    const bytes = await store.blob(sha256);
    if (bytes !== undefined) base64.set(sha256, Buffer.from(bytes).toString('base64'));
  }
  return (media) => base64.get(media.sha256);
}

/** All media that a request refers to, those inside tool results too. */
export function mediaOf(request: MessageRequest): MediaRef[] {
  const refs: MediaRef[] = [];
  for (const message of request.messages) {
    for (const block of message.content) {
      if (block.type === 'tool_result') for (const inner of block.content) if ('media' in inner) refs.push(inner.media);
      if ('media' in block) refs.push(block.media);
    }
  }
  return refs;
}
