import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import type { Conversation } from './conversation.ts';
import { type ChatLine, readLine } from './read-line.ts';

/**
 * Carries out the lines of `input` to its end, each when what came before is done; an answer to a call that waits when
 * one does. Ends with how the last one ended.
 */
export async function talkFromInput(
  conversation: Conversation,
  input: Readable,
  signal: AbortSignal,
): Promise<ExitCode> {
  const lines = createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY });
  const aborted = (): void => {
    lines.close();
    // It may have ended just now.
    if (conversation.busy) conversation.cancel('interrupted at the terminal').catch(() => {});
  };
  signal.addEventListener('abort', aborted, { once: true });
  for await (const text of lines) {
    if (signal.aborted) break;
    const line = readLine(text);
    await turnOf(conversation, line);
    if (line.kind === 'leave' || signal.aborted) break;
    await conversation.obey(line);
  }
  await conversation.idle();
  return signal.aborted ? EXIT.cancelled : conversation.code;
}

async function turnOf(conversation: Conversation, { kind }: ChatLine): Promise<void> {
  if (kind === 'approve' || kind === 'deny') await conversation.waiting();
  else if (kind !== 'cancel' && kind !== 'nothing') await conversation.idle();
}
