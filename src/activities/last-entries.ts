import type { ActivityRef } from '../contract/activities.ts';
import type { Store } from '../store/store.ts';
import type { TranscriptEntry } from '../transcript/items.ts';

/** How far back the last answer can be at most: a response has a handful of items. */
const LAST_ITEMS = 200;

/** The last entries that the workflow knows of: those of the last step are among them. */
export async function lastEntries(store: Store, { sessionId, head }: ActivityRef): Promise<readonly TranscriptEntry[]> {
  const entries = await store.entries(sessionId, { afterSeq: Math.max(0, head - LAST_ITEMS) });
  return entries.filter(({ seq }) => seq <= head);
}
