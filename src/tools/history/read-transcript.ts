import { z } from 'zod';
import type { Store } from '../../store/store.ts';
import type { TranscriptEntry } from '../../transcript/items.ts';
import { defineTool } from '../define-tool.ts';
import { Refusal } from '../refusal.ts';
import type { Tool } from '../tool.ts';
import { ITEM_TITLES, readableItem } from './item-pieces.ts';

/** Items given at once, at most. */
const MAX_ITEMS = 20;
/** Characters given at once: about a thousand tokens, which a small window can still take. */
const MAX_CHARS = 4000;
/** A further item is begun only where at least this much of it can be shown. */
const MIN_CHARS = 400;

const input = z.object({
  seq: z.number().int().min(1).describe('Number of the item, as in [#12].'),
  count: z.number().int().min(1).max(MAX_ITEMS).optional().describe('Items to read from there on. Default 1.'),
  start: z.number().int().min(0).optional().describe('First character of the first item, from 0. Default 0.'),
});

/** What reading needs of the store. */
export type TranscriptReader = Pick<Store, 'entries' | 'entriesAt' | 'toolOutput'>;

/** The tool `read_transcript`: items of the session by their number, as they were said, whatever the view shows of them. */
export function createReadTranscript(store: TranscriptReader): Tool {
  return defineTool({
    name: 'read_transcript',
    description: `Reads earlier items of this conversation by number, word for word, summarised or cut ones too; at most ${MAX_CHARS} characters at once, then read on with start.`,
    input,
    annotations: { title: 'Read transcript', readOnlyHint: true, openWorldHint: false },
    quick: true,
    resultSemantic: 'factual',
    label: ({ seq, count = 1 }) => `read_transcript #${seq}${count > 1 ? ` and ${count - 1} more` : ''}`,
    execute: async ({ seq, count = 1, start = 0 }, { sessionId }) => {
      const entries = await store.entries(sessionId, { afterSeq: seq - 1, limit: count + 1 });
      const first = entries[0];
      if (first === undefined) throw new Refusal(`There is no item #${seq}, and none after it.`);
      if (first.seq !== seq && start > 0) throw new Refusal(`There is no item #${seq}; the next one is #${first.seq}.`);
      const names = await callNames(store, sessionId, first, entries);
      return said(entries, { count, start, sessionId, names, store });
    },
  });
}

interface Reading {
  readonly count: number;
  readonly start: number;
  readonly sessionId: string;
  readonly names: ReadonlyMap<string, string>;
  readonly store: TranscriptReader;
}

async function said(
  entries: readonly TranscriptEntry[],
  { count, start, sessionId, names, store }: Reading,
): Promise<string> {
  const parts: string[] = [];
  let left = MAX_CHARS;
  for (const [index, entry] of entries.slice(0, count).entries()) {
    const item = await readableItem(entry, names, sessionId, (...range) => store.toolOutput(...range));
    const from = index === 0 ? start : 0;
    if (from > 0 && from >= item.length)
      throw new Refusal(`Item #${entry.seq} has ${item.length} characters; there is none at ${from}.`);
    if (index > 0 && item.length > left && left < MIN_CHARS)
      return [...parts, `[read on with seq ${entry.seq}]`].join('\n');
    const text = await item.read(from, left);
    const reached = from + text.length;
    const whole = from === 0 && reached >= item.length;
    parts.push(
      `[#${entry.seq}] ${ITEM_TITLES[entry.item.kind]}${whole ? '' : `, characters ${from} to ${reached} of ${item.length}`}:\n${text}`,
    );
    if (reached < item.length) return [...parts, `[read on with seq ${entry.seq}, start ${reached}]`].join('\n');
    left -= text.length;
  }
  const next = entries[count];
  return [...parts, ...(next === undefined ? [] : [`[next item: #${next.seq}]`])].join('\n');
}

/** Names of the tools whose calls or results are among the items. Results that come first belong to the batch before them. */
async function callNames(
  store: TranscriptReader,
  sessionId: string,
  first: TranscriptEntry,
  entries: readonly TranscriptEntry[],
): Promise<ReadonlyMap<string, string>> {
  const before = first.item.kind === 'tool_result_batch' ? await store.entriesAt(sessionId, [first.seq - 1]) : [];
  return toolNames([...before, ...entries]);
}

/** Names of called tools by call id. */
export function toolNames(entries: readonly TranscriptEntry[]): ReadonlyMap<string, string> {
  const calls = entries.flatMap(({ item }) => (item.kind === 'tool_call_batch' ? item.calls : []));
  return new Map(calls.map(({ callId, name }) => [callId, name]));
}
