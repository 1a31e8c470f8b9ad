import type { StoredMemory } from '../prompt/compose-prompt.ts';
import type { Store } from '../store/store.ts';

/** More than any prompt has room for. */
const MAX_MEMORIES = 200;

/**
 * The memories that a run's prompt may hold, oldest first: those of its session and of the workspace that are active.
 * What is quarantined (only a tool said it) stays out until somebody allows it.
 */
export async function storedMemories(store: Pick<Store, 'facts'>, sessionId: string): Promise<readonly StoredMemory[]> {
  const newestFirst = await store.facts({ sessionId, kinds: ['memory'], statuses: ['active'], limit: MAX_MEMORIES });
  return newestFirst.toReversed().map(({ factId, text }) => ({ id: factId, text }));
}
