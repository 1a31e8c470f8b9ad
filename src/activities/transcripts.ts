import type { Store } from '../store/store.ts';
import type { TranscriptEntry } from '../transcript/items.ts';

/** Reads a session's live items up to a head, and only what it has not read before. */
export type ReadTranscript = (sessionId: string, owner: string, head: number) => Promise<readonly TranscriptEntry[]>;

interface Cached {
  readonly owner: string;
  readonly entries: TranscriptEntry[];
}

/**
 * Keeps the transcripts of the sessions that this worker serves, so that a step reads only what came since the last.
 *
 * An entry is dropped when another execution takes the session over: rows may have been superseded by then.
 */
export function createTranscripts(store: Store, capacity = 200): ReadTranscript {
  const cache = new Map<string, Cached>();
  return async (sessionId, owner, head) => {
    const cached = cache.get(sessionId);
    const usable = cached?.owner === owner && (cached.entries.at(-1)?.seq ?? 0) <= head ? cached : undefined;
    const known = usable?.entries ?? [];
    const last = known.at(-1)?.seq ?? 0;
    const fresh = last < head ? await store.entries(sessionId, { afterSeq: last }) : [];
    const entries = [...known, ...fresh.filter((entry) => entry.seq > last && entry.seq <= head)];
    cache.delete(sessionId);
    cache.set(sessionId, { owner, entries });
    const oldest = cache.keys().next().value;
    if (cache.size > capacity && oldest !== undefined) cache.delete(oldest);
    return entries;
  };
}
