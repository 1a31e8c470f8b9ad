import type { AgentItem, TranscriptEntry } from '../items.ts';
import type { Message } from '../message.ts';
import { normalize } from '../normalize.ts';
import { toMessages } from '../to-messages.ts';
import { withSystemPrompt } from '../with-system-prompt.ts';
import { writeAnthropicMessages } from './anthropic-export.ts';
import type { ExportContext, Loss } from './context.ts';
import { writeTranscript } from './holdfast-jsonl.ts';
import { writeChatMessages } from './openai-chat-export.ts';

/** Formats that a session can be written in. Only our own keeps everything. */
export type ExportFormat = 'holdfast-jsonl' | 'openai-chat' | 'anthropic';

export interface ExportedFile {
  readonly text: string;
  readonly losses: readonly Loss[];
}

export interface ExportOptions extends ExportContext {
  readonly sessionId?: string;
  readonly system?: string;
}

/** Writes a session's entries as a file, and tells what the format cannot hold. */
export function exportFile(
  entries: readonly TranscriptEntry[],
  format: ExportFormat,
  options: ExportOptions = {},
): ExportedFile {
  const { sessionId, system } = options;
  const about = { ...(sessionId === undefined ? {} : { sessionId }), ...(system === undefined ? {} : { system }) };
  if (format === 'holdfast-jsonl') return { text: writeTranscript(entries, about), losses: [] };
  const losses: Loss[] = [];
  const context: ExportContext = { ...options, lose: (loss) => losses.push(loss) };
  const messages = messagesOf(
    entries.map(({ item }) => item),
    system,
  );
  const json =
    format === 'openai-chat' ? writeChatMessages(messages, context) : writeAnthropicMessages(messages, context);
  return { text: `${JSON.stringify(json, null, 2)}\n`, losses };
}

function messagesOf(items: readonly AgentItem[], system: string | undefined): readonly Message[] {
  return withSystemPrompt(toMessages(normalize(items).items), system);
}
