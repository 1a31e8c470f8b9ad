import type { ExtensionBlock, MediaRef, ToolResultStatus } from '../transcript/items.ts';
import type { BuiltinToolBlock } from '../transcript/message.ts';
import { headOf, wellFormed } from '../transcript/well-formed.ts';

/** Sent where a wire demands some text and there is none. */
export const NO_OUTPUT = '(no output)';
/** First message where a wire wants the user to begin and the kept conversation begins with the model. */
export const EARLIER_CONVERSATION = '(The earlier part of this conversation is not shown.)';
/** Last message where a wire wants the user to have the last word. */
export const GO_ON = '(Please go on.)';

const MAX_NOTE = 500;

/** Stands in for media that the target cannot take or whose bytes are gone. */
export function mediaNote(type: 'image' | 'audio' | 'file', media: MediaRef, why: string): string {
  const name = media.name === undefined ? '' : ` "${media.name}"`;
  return `[${type}${name} of type ${media.mediaType}, ${media.byteLength} bytes: ${why}]`;
}

/** Stands in for a tool that another provider ran; it is no call of ours and gets no result. */
export function builtinNote(block: BuiltinToolBlock): string {
  const what = block.phase === 'call' ? 'was used by the model' : 'gave a result';
  return `[the provider's tool ${block.name} ${what}: ${clipped(JSON.stringify(block.payload))}]`;
}

export function extensionText(block: ExtensionBlock): string {
  return `[${block.name}: ${clipped(JSON.stringify(block.data))}]`;
}

function clipped(text: string): string {
  return text.length <= MAX_NOTE ? wellFormed(text) : `${wellFormed(headOf(text, MAX_NOTE))}…`;
}

/**
 * What stands before the text of a result on wires that have no flag for failure; empty for results that are well, or
 * whose own text begins by saying what happened.
 */
export function statusMark(status: ToolResultStatus, text: string): string {
  if (status === 'ok' || SAYS_SO.test(text)) return '';
  return `[${status.replaceAll('_', ' ')}] `;
}

const SAYS_SO = /^\W{0,3}(?:error|fail|denied|cancel|abort|timed out|this call)/i;
