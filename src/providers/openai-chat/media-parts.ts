import type OpenAI from 'openai';
import { assertNever } from '../../transcript/assert-never.ts';
import type { MediaRef } from '../../transcript/items.ts';
import type { Block } from '../../transcript/message.ts';
import { wellFormed } from '../../transcript/well-formed.ts';
import type { MediaLookup } from '../provider.ts';
import { builtinNote, extensionText, mediaNote } from '../stand-ins.ts';
import type { WireLoss } from '../wire-loss.ts';
import type { Dialect } from './dialects.ts';

export type Part = OpenAI.Chat.Completions.ChatCompletionContentPart;

export interface PartsContext {
  readonly dialect: Dialect;
  readonly media?: MediaLookup | undefined;
  readonly takesImages: boolean;
  readonly lose: (loss: WireLoss) => void;
}

/** The parts of a user message; media that cannot go become a note, blank text goes. */
export function userParts(blocks: readonly Block[], index: number, context: PartsContext): Part[] {
  return blocks.flatMap((block): Part[] => {
    switch (block.type) {
      case 'text':
      case 'refusal':
        return block.text.trim() === '' ? [] : [{ type: 'text', text: wellFormed(block.text) }];
      case 'image':
      case 'audio':
      case 'file':
        return [mediaPart(block.type, block.media, index, context)];
      case 'extension':
        return [{ type: 'text', text: extensionText(block) }];
      case 'builtin_tool':
        return [{ type: 'text', text: builtinNote(block) }];
      case 'thinking':
      case 'tool_use':
      case 'tool_result':
        return [];
      default:
        return assertNever(block, 'content block');
    }
  });
}

function mediaPart(type: 'image' | 'audio' | 'file', media: MediaRef, index: number, context: PartsContext): Part {
  const { dialect, lose } = context;
  const takes = type === 'image' ? context.takesImages : type === 'audio' ? dialect.media.audio : dialect.media.files;
  const bytes = takes ? context.media?.(media) : undefined;
  const part = bytes === undefined ? undefined : nativePart(type, media, bytes);
  if (part !== undefined) return part;
  const why = takes && bytes === undefined ? 'its bytes are gone' : 'this model cannot take it';
  lose({ code: 'media', message: index, detail: `${type} of type ${media.mediaType}: ${why}`.slice(0, 200) });
  return { type: 'text', text: mediaNote(type, media, why) };
}

function nativePart(type: 'image' | 'audio' | 'file', media: MediaRef, base64: string): Part | undefined {
  const url = `data:${media.mediaType};base64,${base64}`;
  if (type === 'image') return { type: 'image_url', image_url: { url } };
  if (type === 'file')
    return { type: 'file', file: { filename: media.name ?? media.sha256.slice(0, 12), file_data: url } };
  const format = AUDIO_FORMATS.get(media.mediaType);
  return format === undefined ? undefined : { type: 'input_audio', input_audio: { data: base64, format } };
}

const AUDIO_FORMATS: ReadonlyMap<string, 'wav' | 'mp3'> = new Map([
  ['audio/wav', 'wav'],
  ['audio/x-wav', 'wav'],
  ['audio/wave', 'wav'],
  ['audio/mpeg', 'mp3'],
  ['audio/mp3', 'mp3'],
]);
