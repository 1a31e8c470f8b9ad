import type { Store } from '../store/store.ts';
import { buildView, extendView, type View } from '../transcript/view.ts';

/** The view of a session up to a head, in tokens of budget. */
export type Views = (
  key: { readonly sessionId: string; readonly owner: string },
  head: number,
  budget: number,
) => Promise<View>;

interface Cached {
  readonly owner: string;
  readonly budget: number;
  readonly last: number;
  readonly view: View;
}

/**
 * Keeps the views of the sessions that this worker serves, so that a step reads and builds only what came since the last.
 *
 * A view is dropped when another execution takes the session over: rows may have been superseded by then.
 */
export function createViews(store: Store, capacity = 200): Views {
  const cache = new Map<string, Cached>();
  return async ({ sessionId, owner }, head, budget) => {
    const cached = cache.get(sessionId);
    const known = cached?.owner === owner && cached.budget === budget && cached.last <= head ? cached : undefined;
    const read = await store.entries(sessionId, { afterSeq: known?.last ?? 0 });
    const fresh = read.filter(({ seq }) => seq <= head);
    const view =
      known === undefined ? buildView({ entries: fresh, budget: { budget } }) : extendView(known.view, fresh);
    cache.delete(sessionId);
    cache.set(sessionId, { owner, budget, last: fresh.at(-1)?.seq ?? known?.last ?? 0, view });
    const oldest = cache.keys().next().value;
    if (cache.size > capacity && oldest !== undefined) cache.delete(oldest);
    return view;
  };
}
