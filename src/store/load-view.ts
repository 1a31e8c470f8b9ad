import type { TranscriptEntry } from '../transcript/items.ts';
import { buildView, type View } from '../transcript/view.ts';
import { notFound } from './refusals.ts';
import type { Store } from './store.ts';
import { revisionParts } from './view-revision.ts';

/** Which view of a session. */
export interface ViewKey {
  /** See `CompactionStore`; of now or of any time before. */
  readonly revision: string;
  /** The last item that it holds. */
  readonly head: number;
  /** In tokens, see `ViewInput`. */
  readonly budget: number;
}

/** What loading a view asks of a store. */
export type ViewStore = Pick<Store, 'checkpoint' | 'entries' | 'entriesAt' | 'viewEdits' | 'viewRevision'>;

/** Items read at a time. */
const PAGE = 500;

/**
 * The view of a session at a revision: the same as one built of the whole session, but nothing that its checkpoint
 * replaced is read.
 *
 * @throws StoreError `NotFound` for a revision that the session never had.
 */
export async function loadView(store: ViewStore, sessionId: string, key: ViewKey): Promise<View> {
  const { compactionId, edits: count } = revisionParts(key.revision);
  const checkpoint = compactionId === undefined ? undefined : await store.checkpoint(sessionId, compactionId);
  const latest = revisionParts(await store.viewRevision(sessionId));
  if ((compactionId !== undefined && checkpoint === undefined) || latest.edits < count) {
    throw notFound(`The view of session ${sessionId} never had the revision ${key.revision}.`);
  }
  const { firstKeptSeq: fromSeq = 1, protectedSeqs: seqs = [] } = checkpoint ?? {};
  const edits = await store.viewEdits(sessionId, count, { fromSeq, seqs });
  const before = seqs.length === 0 ? [] : await store.entriesAt(sessionId, seqs);
  const kept = await entriesFrom(store, sessionId, fromSeq, key.head);
  return buildView({
    entries: [...before.filter(({ seq }) => seq < fromSeq && seq <= key.head), ...kept],
    ...(checkpoint === undefined ? {} : { checkpoint }),
    edits,
    editsLeftOut: count - edits.length,
    budget: { budget: key.budget },
  });
}

async function entriesFrom(
  store: Pick<Store, 'entries'>,
  sessionId: string,
  fromSeq: number,
  head: number,
): Promise<readonly TranscriptEntry[]> {
  const entries: TranscriptEntry[] = [];
  for (let afterSeq = fromSeq - 1; afterSeq < head; ) {
    const limit = Math.min(PAGE, head - afterSeq);
    const page = await store.entries(sessionId, { afterSeq, limit });
    entries.push(...page.filter(({ seq }) => seq <= head));
    afterSeq = page.length < limit ? head : (page.at(-1)?.seq ?? head);
  }
  return entries;
}
