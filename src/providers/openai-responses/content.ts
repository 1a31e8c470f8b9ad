import type OpenAI from 'openai';
import type { AudioBlock, FileBlock, ImageBlock } from '../../transcript/items.ts';
import type { Block, ToolResultBlock } from '../../transcript/message.ts';
import { wellFormed } from '../../transcript/well-formed.ts';
import { type MediaContext, mediaOrNote } from '../media-or-note.ts';
import { extensionText, NO_OUTPUT, statusMark } from '../stand-ins.ts';

export type InputContent =
  | OpenAI.Responses.ResponseInputText
  | OpenAI.Responses.ResponseInputImage
  | OpenAI.Responses.ResponseInputFile;

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

function mediaContent(block: ImageBlock | AudioBlock | FileBlock, index: number, context: MediaContext): InputContent {
  const { media } = block;
  const sent = mediaOrNote(block, index, context);
  if ('note' in sent) return text(sent.note);
  const { base64 } = sent;
  const url = `data:${media.mediaType};base64,${base64}`;
  if (block.type === 'image') return { type: 'input_image', image_url: url, detail: 'auto' };
  if (media.mediaType === 'application/pdf')
    return { type: 'input_file', filename: media.name ?? 'document.pdf', file_data: url };
  return text(`${media.name ?? 'file'}:\n${Buffer.from(base64, 'base64').toString('utf8')}`);
}
