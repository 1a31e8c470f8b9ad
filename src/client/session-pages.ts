import type { Store } from '../store/store.ts';
import type { TranscriptEntry } from '../transcript/items.ts';

/** Entries read at a time: memory is bounded by this many of the largest. */
const PAGE = 200;

/** All of a session's live entries in order. */
export async function allEntries(store: Store, sessionId: string): Promise<readonly TranscriptEntry[]> {
  const entries: TranscriptEntry[] = [];
  for await (const page of sessionPages(store, sessionId)) entries.push(...page);
  return entries;
}

/** A session's live entries in order, page by page. */
export async function* sessionPages(store: Store, sessionId: string): AsyncGenerator<readonly TranscriptEntry[]> {
  let afterSeq = 0;
  for (;;) {
    const page = await store.entries(sessionId, { afterSeq, limit: PAGE });
    if (page.length === 0) return;
    yield page;
    afterSeq = page.at(-1)?.seq ?? afterSeq;
  }
}
