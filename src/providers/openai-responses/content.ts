import type OpenAI from 'openai';
import type { AudioBlock, FileBlock, ImageBlock } from '../../transcript/items.ts';
import type { Block, ToolResultBlock } from '../../transcript/message.ts';
import { wellFormed } from '../../transcript/well-formed.ts';
import type { MediaLookup } from '../provider.ts';
import { extensionText, mediaNote, NO_OUTPUT, statusMark } from '../stand-ins.ts';
import type { WireLoss } from '../wire-loss.ts';

export type InputContent =
  | OpenAI.Responses.ResponseInputText
  | OpenAI.Responses.ResponseInputImage
  | OpenAI.Responses.ResponseInputFile;

export interface MediaContext {
  readonly media: MediaLookup | undefined;
  readonly takesImages: boolean;
  readonly lose: (loss: WireLoss) => void;
}

/** What a user message or a tool result may hold; blank texts are left out. */
export function inputContent(blocks: readonly Block[], index: number, context: MediaContext): readonly InputContent[] {
  return blocks.flatMap((block): readonly InputContent[] => {
    switch (block.type) {
      case 'text':
        return block.text.trim() === '' ? [] : [text(block.text)];
      case 'image':
      case 'audio':
      case 'file':
        return [mediaContent(block, index, context)];
      case 'extension':
        return [text(extensionText(block))];
      default:
        // Blocks of an assistant do not stand in user messages; a broken import loses them.
        context.lose({ code: 'extension', message: index, detail: `${block.type} in a message that cannot hold it` });
        return [];
    }
  });
}

function text(value: string): OpenAI.Responses.ResponseInputText {
  return { type: 'input_text', text: wellFormed(value) };
}

/** A result as one string where it is text alone, which every server takes; as a list only where media need it. */
export function outputContent(
  { content: blocks, status }: ToolResultBlock,
  index: number,
  context: MediaContext,
): string | InputContent[] {
  const content = inputContent(blocks, index, context);
  const said = content.flatMap((part) => (part.type === 'input_text' ? [part.text] : []));
  const mark = statusMark(status, said[0] ?? '');
  if (said.length === content.length) return mark + (said.length === 0 ? NO_OUTPUT : said.join('\n'));
  return mark === '' ? [...content] : [text(mark.trimEnd()), ...content];
}

const IMAGE_TYPES: readonly string[] = ['image/jpeg', 'image/png', 'image/gif', 'image/webp'];

function mediaContent(block: ImageBlock | AudioBlock | FileBlock, index: number, context: MediaContext): InputContent {
  const { media } = block;
  const base64 = context.media?.(media);
  const why = base64 === undefined ? 'no longer stored' : refused(block, context);
  if (base64 === undefined || why !== undefined) {
    const note = mediaNote(block.type, media, why ?? '');
    context.lose({ code: 'media', message: index, detail: note.slice(0, 200) });
    return text(note);
  }
  const url = `data:${media.mediaType};base64,${base64}`;
  if (block.type === 'image') return { type: 'input_image', image_url: url, detail: 'auto' };
  if (media.mediaType === 'application/pdf')
    return { type: 'input_file', filename: media.name ?? 'document.pdf', file_data: url };
  return text(`${media.name ?? 'file'}:\n${Buffer.from(base64, 'base64').toString('utf8')}`);
}

function refused(block: ImageBlock | AudioBlock | FileBlock, context: MediaContext): string | undefined {
  const { mediaType, byteLength } = block.media;
  if (block.type === 'audio') return 'this model takes no audio here';
  if (block.type === 'image') {
    if (!context.takesImages) return 'this model takes no images';
    return IMAGE_TYPES.includes(mediaType) ? undefined : 'not a format that this model takes';
  }
  if (byteLength === 0) return 'empty';
  const isText = mediaType.startsWith('text/') || mediaType === 'application/json';
  return isText || mediaType === 'application/pdf' ? undefined : 'not a format that this model takes';
}
