import type { MediaRef } from './items.ts';
import type { MessageRequest } from './message.ts';

/** All media that a request refers to, those inside tool results too. */
export function requestMedia(request: MessageRequest): readonly MediaRef[] {
  const refs: MediaRef[] = [];
  for (const message of request.messages) {
    for (const block of message.content) {
      if (block.type === 'tool_result') for (const inner of block.content) if ('media' in inner) refs.push(inner.media);
      if ('media' in block) refs.push(block.media);
    }
  }
  return refs;
}
