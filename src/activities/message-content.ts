import { HoldfastError } from '../contract/errors.ts';
import type { SendMessage } from '../contract/messages.ts';
import type { AcceptedMessage, Store } from '../store/store.ts';
import type { ContentBlock, MediaRef, UserMessage } from '../transcript/items.ts';

/** What a message says, its long text read back from the store. */
export async function acceptedMessage(store: Store, message: SendMessage): Promise<AcceptedMessage> {
  const content: ContentBlock[] = [];
  const text = message.textRef === undefined ? message.text : await longText(store, message.textRef);
  if (text !== undefined && text !== '') content.push({ type: 'text', text });
  for (const media of message.attachments ?? []) content.push(mediaBlock(media));
  return { messageId: message.messageId, mode: message.mode ?? 'follow_up', content };
}

export function userItem(message: AcceptedMessage): UserMessage {
  return {
    kind: 'user_message',
    schemaVersion: 1,
    messageId: message.messageId,
    origin: message.mode === 'steer' ? 'steer' : 'user',
    content: message.content,
  };
}

async function longText(store: Store, ref: MediaRef): Promise<string> {
  const bytes = await store.blob(ref.sha256);
  if (bytes === undefined) {
    throw new HoldfastError('StoreMismatch', 'the text of the message is not in the store of this worker');
  }
  return new TextDecoder().decode(bytes);
}

function mediaBlock(media: MediaRef): ContentBlock {
  if (media.mediaType.startsWith('image/')) return { type: 'image', media };
  if (media.mediaType.startsWith('audio/')) return { type: 'audio', media };
  return { type: 'file', media };
}

/** The words of a message, without its media. */
export function textOfMessage({ content }: AcceptedMessage): string {
  return content.map((block) => (block.type === 'text' ? block.text : '')).join(' ');
}
