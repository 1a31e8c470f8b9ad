import type { RunRow, Store } from '../store/store.ts';
import { buildView, type View } from '../transcript/view.ts';
import { currentView } from './rebuild-request.ts';
import { allEntries } from './session-pages.ts';

/**
 * What the next request of a run's session would carry, with all that it leaves out beside it: for explaining. The
 * request itself reads only what it shows (`currentView`).
 */
export async function wholeView(store: Store, run: RunRow): Promise<View> {
  const { checkpoint, budget } = (await currentView(store, run)).input;
  const entries = await allEntries(store, run.sessionId);
  const edits = await store.viewEdits(run.sessionId);
  return buildView({ entries, ...(checkpoint === undefined ? {} : { checkpoint }), edits, budget });
}
