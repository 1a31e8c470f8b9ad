import { loadView } from '../store/load-view.ts';
import type { Store } from '../store/store.ts';
import { extendView, type View } from '../transcript/view.ts';

export interface ViewKey {
  readonly sessionId: string;
  /** Execution that owns the session: another one may have superseded rows. */
  readonly owner: string;
  /** Which checkpoint and edits it is made with. */
  readonly revision: string;
  /** Last seq that it shows. */
  readonly head: number;
  /** In tokens; cuts protected items. */
  readonly budget: number;
}

/** The view of a session up to a head. */
export type Views = (key: ViewKey) => Promise<View>;

interface Cached {
  readonly key: ViewKey;
  readonly last: number;
  readonly view: View;
}

/**
 * Keeps the views of the sessions that this worker serves, so that a step reads and builds only what came since the last.
 *
 * A view is dropped when a maintenance pass changed it, or another execution took the session over.
 */
export function createViews(store: Store, capacity = 200): Views {
  const cache = new Map<string, Cached>();
  return async (key) => {
    const { sessionId } = key;
    const cached = cache.get(sessionId);
    const known = cached !== undefined && leadsTo(cached, key) ? cached : undefined;
    const made = known === undefined ? await whole(store, key) : await longer(store, key, known);
    cache.delete(sessionId);
    cache.set(sessionId, { key, ...made });
    const oldest = cache.keys().next().value;
    if (cache.size > capacity && oldest !== undefined) cache.delete(oldest);
    return made.view;
  };
}

function leadsTo({ key: { owner, revision, budget }, last }: Cached, to: ViewKey): boolean {
  return owner === to.owner && revision === to.revision && budget === to.budget && last <= to.head;
}

type Made = Omit<Cached, 'key'>;

async function whole(store: Store, { sessionId, revision, head, budget }: ViewKey): Promise<Made> {
  const view = await loadView(store, sessionId, { revision, head, budget });
  return { view, last: view.input.entries.at(-1)?.seq ?? 0 };
}

async function longer(store: Store, { sessionId, head }: ViewKey, { view, last }: Made): Promise<Made> {
  const read = await store.entries(sessionId, { afterSeq: last });
  const fresh = read.filter(({ seq }) => seq <= head);
  return { view: extendView(view, fresh), last: fresh.at(-1)?.seq ?? last };
}
