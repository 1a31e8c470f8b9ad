import type { AudioBlock, FileBlock, ImageBlock } from '../transcript/items.ts';
import type { MediaLookup } from './provider.ts';
import { mediaNote } from './stand-ins.ts';
import type { WireLoss } from './wire-loss.ts';

/** What a wire that takes images, PDF files and texts knows when it meets media. */
export interface MediaContext {
  readonly media: MediaLookup | undefined;
  readonly takesImages: boolean;
  readonly lose: (loss: WireLoss) => void;
}

const IMAGE_TYPES: readonly string[] = ['image/jpeg', 'image/png', 'image/gif', 'image/webp'];

/** The bytes of media that may go, as base64, else the note that goes in their place; its loss is reported under the message's index. */
export function mediaOrNote(
  block: ImageBlock | AudioBlock | FileBlock,
  index: number,
  context: MediaContext,
): { readonly base64: string } | { readonly note: string } {
  const base64 = context.media?.(block.media);
  const why = base64 === undefined ? 'no longer stored' : refused(block, context.takesImages);
  if (base64 !== undefined && why === undefined) return { base64 };
  const note = mediaNote(block.type, block.media, why ?? '');
  context.lose({ code: 'media', message: index, detail: note.slice(0, 200) });
  return { note };
}

function refused(block: ImageBlock | AudioBlock | FileBlock, takesImages: boolean): string | undefined {
  const { mediaType, byteLength } = block.media;
  if (block.type === 'audio') return 'this model takes no audio';
  if (block.type === 'image') {
    if (!takesImages) return 'this model takes no images';
    return IMAGE_TYPES.includes(mediaType) ? undefined : 'not a format that this model takes';
  }
  if (byteLength === 0) return 'empty';
  const isText = mediaType.startsWith('text/') || mediaType === 'application/json';
  return isText || mediaType === 'application/pdf' ? undefined : 'not a format that this model takes';
}
