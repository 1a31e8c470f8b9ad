import type { ContentBlock, MediaRef } from './items.ts';
import { blocksTokens } from './tokens.ts';
import type { View, ViewPart } from './view.ts';
import type { ViewEdit } from './view-edits.ts';

/**
 * Edits that keep a request small in bytes: the oldest media become notes until the rest, as base64, takes at most
 * `maxBytes`. Providers answer 413 to large bodies however few tokens they hold.
 */
export function mediaEdits(view: View, options: { readonly maxBytes: number }): readonly ViewEdit[] {
  let excess = viewMediaBytes(view) - options.maxBytes;
  const edits: ViewEdit[] = [];
  for (const part of view.parts) {
    for (const { callId, content } of contentsOf(part)) {
      if (excess <= 0 || part.seq === null || mediaBytes(content) === 0) continue;
      const noted = content.map((block): ContentBlock => {
        if (excess <= 0 || !isMedia(block)) return block;
        excess -= base64Length(block.media);
        return { type: 'text', text: mediaNote(block.media) };
      });
      edits.push({
        schemaVersion: 1,
        seq: part.seq,
        ...(callId === undefined ? {} : { callId }),
        action: { type: 'set_content', content: noted },
        reason: 'media_bytes',
        tokensBefore: blocksTokens(content),
        tokensAfter: blocksTokens(noted),
      });
    }
  }
  return edits;
}

/** Bytes of all media of a view on the wire. */
export function viewMediaBytes({ parts }: View): number {
  return parts.reduce((sum, part) => sum + mediaBytes(contentsOf(part).flatMap(({ content }) => content)), 0);
}

/** What stands for media that are not sent. */
export function mediaNote({ mediaType, byteLength, name }: MediaRef): string {
  return `[${name === undefined ? '' : `${name}, `}${mediaType}, ${byteLength} bytes: not shown]`;
}

/** Bytes of the media of some content on the wire, as base64. */
export function mediaBytes(content: readonly ContentBlock[]): number {
  return content.reduce((sum, block) => sum + (isMedia(block) ? base64Length(block.media) : 0), 0);
}

export function isMedia(block: {
  readonly type: string;
}): block is Extract<ContentBlock, { readonly media: MediaRef }> {
  return block.type === 'image' || block.type === 'audio' || block.type === 'file';
}

function base64Length({ byteLength }: MediaRef): number {
  return Math.ceil(byteLength / 3) * 4;
}

function contentsOf({
  item,
}: ViewPart): readonly { readonly callId?: string; readonly content: readonly ContentBlock[] }[] {
  if (item.kind === 'user_message') return [{ content: item.content }];
  return item.kind === 'tool_result_batch' ? item.results : [];
}
