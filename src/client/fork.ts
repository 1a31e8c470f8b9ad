import { randomUUID } from 'node:crypto';
import { HoldfastError } from '../contract/errors.ts';
import { isSessionId } from '../contract/identity.ts';
import type { Store } from '../store/store.ts';

export interface ForkOptions {
  /** The last item that goes along; it must end a group (no call without its result). */
  readonly atSeq: number;
  /** `[A-Za-z0-9._-]{1,128}`; default: a fresh one. */
  readonly as?: string;
}

/** A session that begins as a copy of another's first items. */
export interface Fork {
  readonly sessionId: string;
  readonly from: string;
  /** Last item of the copy. */
  readonly head: number;
}

/**
 * Copies a session up to an item, as a new session. The original is not touched; needs no server.
 *
 * @throws HoldfastError `InvalidInput`; StoreError `NotFound`, `InvalidInput` when the target exists or a group is cut.
 */
export async function forkSession(
  store: Pick<Store, 'forkSession'>,
  from: string,
  options: ForkOptions,
): Promise<Fork> {
  const sessionId = options.as ?? randomUUID();
  if (!isSessionId(sessionId))
    throw new HoldfastError('InvalidInput', `"${sessionId}" is no session id: use [A-Za-z0-9._-], at most 128`);
  if (!Number.isSafeInteger(options.atSeq) || options.atSeq < 1)
    throw new HoldfastError('InvalidInput', `${options.atSeq} is no number of an item: they begin with 1`);
  const { head } = await store.forkSession({
    fromSessionId: from,
    toSessionId: sessionId,
    atSeq: options.atSeq,
    runId: randomUUID(),
  });
  return { sessionId, from, head };
}
