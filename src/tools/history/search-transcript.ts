import { z } from 'zod';
import type { TranscriptHit } from '../../store/compaction-port.ts';
import type { Store } from '../../store/store.ts';
import type { ItemKind } from '../../transcript/items.ts';
import { defineTool } from '../define-tool.ts';
import { Refusal } from '../refusal.ts';
import type { Tool } from '../tool.ts';
import { ITEM_TITLES } from './item-pieces.ts';
import { toolNames } from './read-transcript.ts';

/** Hits given at once. */
const PAGE = 10;
/** Hits asked of the store at once: some are answers of these very tools and are left out. */
const BATCH = 50;
/** Such batches looked at before the caller is told to go on. */
const MAX_BATCHES = 20;

const input = z.object({
  query: z.string().min(1).max(400).describe('Words that the item must hold, all of them, in any order.'),
  before_seq: z.number().int().min(1).optional().describe('Only items before this number.'),
});

/** What searching needs of the store. */
export type TranscriptSearcher = Pick<Store, 'searchTranscript' | 'entriesAt'>;

/** Tools that repeat what stands elsewhere: their calls and answers would crowd out what is looked for. */
const ECHOES: ReadonlySet<string> = new Set(['search_transcript', 'read_transcript', 'recall']);

/** The tool `search_transcript`: finds items and whole tool outputs of the session, newest first. */
export function createSearchTranscript(store: TranscriptSearcher): Tool {
  return defineTool({
    name: 'search_transcript',
    description:
      'Finds earlier items of this conversation that hold all the given words, newest first: messages, calls and whole tool outputs, summarised or cut ones too. Read a hit with read_transcript.',
    input,
    annotations: { title: 'Search transcript', readOnlyHint: true, openWorldHint: false },
    resultSemantic: 'factual',
    label: ({ query }) => `search_transcript ${query}`,
    execute: async ({ query, before_seq: beforeSeq }, { sessionId, signal }) => {
      if (query.trim() === '') throw new Refusal('The query is empty: name at least one word.');
      const { hits, next } = await collect(store, sessionId, query, beforeSeq, signal);
      const place = beforeSeq === undefined ? '' : ` before #${beforeSeq}`;
      if (hits.length === 0 && next === undefined)
        return `[nothing${place} holds all of these words; try fewer or others]`;
      const more = next === undefined ? [] : [`[there may be more: go on with before_seq ${next}]`];
      return [...hits.map(hitText), ...more].join('\n');
    },
  });
}

interface Found {
  readonly hits: readonly NamedHit[];
  /** Where to go on; absent when everything was looked at. */
  readonly next?: number;
}

interface NamedHit extends TranscriptHit {
  readonly tool: string | undefined;
}

async function collect(
  store: TranscriptSearcher,
  sessionId: string,
  query: string,
  from: number | undefined,
  signal: AbortSignal,
): Promise<Found> {
  const hits: NamedHit[] = [];
  let beforeSeq = from;
  for (let batch = 0; batch < MAX_BATCHES; batch += 1) {
    signal.throwIfAborted();
    const page = { limit: BATCH, ...(beforeSeq === undefined ? {} : { beforeSeq }) };
    const found = await store.searchTranscript(sessionId, query, page);
    const { whole, before } = wholeItems(found);
    for (const hit of await worthwhile(store, sessionId, whole)) {
      const shown = hits.at(-1)?.seq;
      // Hits of one item stand together: the next page begins before it.
      if (hits.length >= PAGE && shown !== undefined && hit.seq !== shown) return { hits, next: shown };
      hits.push(hit);
    }
    if (before === undefined) return { hits };
    beforeSeq = before;
  }
  return { hits, ...(beforeSeq === undefined ? {} : { next: beforeSeq }) };
}

/** A full batch may end amid the hits of one item: those wait for the next batch, which begins at that item. */
function wholeItems(found: readonly TranscriptHit[]): {
  readonly whole: readonly TranscriptHit[];
  readonly before?: number;
} {
  const last = found.at(-1)?.seq;
  if (found.length < BATCH || last === undefined) return { whole: found };
  const whole = found.filter(({ seq }) => seq !== last);
  return whole.length === 0 ? { whole: found, before: last } : { whole, before: last + 1 };
}

/** Hits without the calls and answers of the tools that only repeat. */
async function worthwhile(
  store: TranscriptSearcher,
  sessionId: string,
  hits: readonly TranscriptHit[],
): Promise<readonly NamedHit[]> {
  // Results follow their batch at once, so the names stand in the item itself or in the one before.
  const seqs = [...new Set(hits.flatMap(({ seq }) => [seq - 1, seq]))].filter((seq) => seq > 0).sort((a, b) => a - b);
  const entries = seqs.length === 0 ? [] : await store.entriesAt(sessionId, seqs);
  const names = toolNames(entries);
  const echoing = new Set(
    entries.flatMap(({ seq, item }) =>
      item.kind === 'tool_call_batch' && item.calls.every(({ name }) => ECHOES.has(name)) ? [seq] : [],
    ),
  );
  return hits.flatMap((hit) => {
    const tool = hit.callId === undefined ? undefined : names.get(hit.callId);
    return echoing.has(hit.seq) || (tool !== undefined && ECHOES.has(tool)) ? [] : [{ ...hit, tool }];
  });
}

function hitText({ seq, kind, callId, tool, excerpt }: NamedHit): string {
  const what = ITEM_TITLES[kind as ItemKind] ?? kind;
  const whose = callId === undefined ? '' : `, ${tool ?? 'call'} ${callId}`;
  return `[#${seq}] ${what}${whose}: ${excerpt.replace(/\s+/g, ' ').trim()}`;
}
