import type { Message } from '../transcript/message.ts';
import { wellFormed } from '../transcript/well-formed.ts';
import type { WireLoss } from './wire-loss.ts';

/** All system messages as one text, for wires that have one place for it and take nothing but text there; empty when there is none. */
export function systemText(messages: readonly Message[], lose: (loss: WireLoss) => void): string {
  const texts: string[] = [];
  for (const [index, message] of messages.entries()) {
    if (message.role !== 'system') continue;
    for (const block of message.content) {
      if (block.type !== 'text')
        lose({ code: 'system_block', message: index, detail: `${block.type} in a system message` });
      else if (block.text.trim() !== '') texts.push(wellFormed(block.text));
    }
  }
  return texts.join('\n\n');
}
