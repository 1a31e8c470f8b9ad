import type { AgentItem } from './items.ts';
import { type Mended, mend } from './mend.ts';
import { isValid } from './validate.ts';

/**
 * Makes any list of items a valid transcript and tells what it did.
 *
 * Valid items stay the same objects; a valid list comes back as it is, without repairs. Texts of users and assistants are
 * never dropped. Deterministic, idempotent, and stable: a prefix that ends between two groups is repaired alike whatever
 * comes after. A call without a result gets `unknown_outcome`, since nothing here says whether it ran; who knows better
 * settles the batch first. Linear; the common case, a valid list, costs one look.
 */
export function normalize(items: readonly AgentItem[]): Mended {
  return isValid(items, { tail: 'closed' }) ? { items, repairs: [] } : mend(items);
}
