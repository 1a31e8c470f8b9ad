import type { AgentItem, ContentBlock, RefusalBlock, UserOrigin } from '../transcript/items.ts';
import { wellFormed } from '../transcript/well-formed.ts';

/** Whether people see a user message in the conversation; nudges and group chatter are for the model. */
const SHOWN: Readonly<Record<UserOrigin, boolean>> = { user: true, steer: true, control: false, observed: false };

/** What a person reads of an item, or `null` when it is none of their business. Storable as a database text. */
export function readableText(item: AgentItem): string | null {
  if (item.kind === 'user_message') return SHOWN[item.origin] ? storable(textOf(item.content)) : null;
  if (item.kind === 'assistant_message') return storable(textOf(item.content));
  return null;
}

/** The texts and refusals of a message's blocks, one a line; media by their name. */
export function textOf(content: readonly (ContentBlock | RefusalBlock)[]): string {
  return content
    .flatMap((block) => {
      if (block.type === 'text' || block.type === 'refusal') return [block.text];
      return block.type === 'extension' ? [] : [`[${block.type}: ${block.media.name ?? block.media.mediaType}]`];
    })
    .join('\n');
}

/** NUL is no text in PostgreSQL, and half a surrogate pair is none in UTF-8. */
export function storable(text: string): string {
  return wellFormed(text).replaceAll('\0', '\uFFFD');
}
