import type { ContentBlock } from '../transcript/items.ts';
import { wellFormed } from '../transcript/well-formed.ts';
import type { ToolOutputBlock } from './tool.ts';

/** UTF-16 units of text that one result may hold (as many bytes and more once stored); the rest is cut out of its middle. */
export const MAX_OUTPUT_CHARS: number = 64 * 1024 * 1024;
/** Bytes of one image or file. */
export const MAX_MEDIA_BYTES: number = 32 * 1024 * 1024;

/** What a tool's return value means to the model. */
export interface Output {
  /** At least one block; texts are never empty. */
  readonly blocks: readonly ToolOutputBlock[];
  readonly isError: boolean;
}

/** A text block any provider and database takes: not blank, no lone surrogates, no NUL, within the limit. */
export function textBlock(text: string): ContentBlock {
  const clean = wellFormed(middleCut(text)).replaceAll('\0', '\uFFFD');
  return { type: 'text', text: clean.trim() === '' ? '(no output)' : clean };
}

function middleCut(text: string): string {
  if (text.length <= MAX_OUTPUT_CHARS) return text;
  const half = MAX_OUTPUT_CHARS / 2;
  return `${text.slice(0, half)}\n[… ${text.length - 2 * half} characters cut …]\n${text.slice(-half)}`;
}

/** What is said instead of media that are too large. */
export function tooLarge(byteLength: number): string {
  return `The tool returned ${byteLength} bytes; at most ${MAX_MEDIA_BYTES} are kept. Nothing of it is shown.`;
}

export function mediaKind(mediaType: string): 'image' | 'audio' | 'file' {
  if (mediaType.startsWith('image/')) return 'image';
  return mediaType.startsWith('audio/') ? 'audio' : 'file';
}
