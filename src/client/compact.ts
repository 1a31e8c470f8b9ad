import { randomUUID } from 'node:crypto';
import { type Client, WorkflowIdReusePolicy } from '@temporalio/client';
import type { CompactionResult } from '../compaction/models.ts';
import { HoldfastError } from '../contract/errors.ts';
import { AGENT_RUN, workflowIdOf } from '../contract/identity.ts';
import { compactSignal } from '../contract/messages.ts';
import type { Store } from '../store/store.ts';
import { translate } from './temporal-errors.ts';

export interface CompactDeps {
  readonly client: Client;
  readonly store: Store;
  readonly taskQueue: string;
  /** Rejects when no workflow of the session is open and `settled` has nothing to tell either. */
  readonly sessionAlive: (settled: () => Promise<unknown>) => Promise<void>;
}

/** How often the store is asked, and Temporal, in milliseconds. */
const POLL_MS = 50;
const ALIVE_MS = 3000;

/**
 * Asks for a compaction: an open run does it at its next step boundary, an idle session gets a run for it alone. Resolves
 * with what came of it, which may be that there was nothing to do or that it failed.
 */
export async function compactSession(
  deps: CompactDeps,
  sessionId: string,
  options: { readonly instructions?: string; readonly signal?: AbortSignal },
): Promise<CompactionResult> {
  const { client, store, taskQueue } = deps;
  if ((await store.session(sessionId)) === undefined) {
    throw new HoldfastError('NotFound', `there is no session ${sessionId}`);
  }
  const earlier = (await store.compactionResults(sessionId)).length;
  const { storeId } = await store.identity();
  const { instructions, signal } = options;
  const requestId = randomUUID();
  const request = { requestId, ...(instructions === undefined ? {} : { instructions }) };
  try {
    await client.workflow.signalWithStart(AGENT_RUN, {
      workflowId: workflowIdOf(sessionId),
      workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
      taskQueue,
      args: [{ sessionId, storeId }],
      signal: compactSignal,
      signalArgs: [request],
      staticSummary: 'compact',
    });
  } catch (error) {
    throw translate(error, sessionId);
  }
  const result = () => resultOf(store, sessionId, requestId, earlier);
  let asked = Date.now();
  for (;;) {
    signal?.throwIfAborted();
    const known = await result();
    if (known !== undefined) return known;
    if (Date.now() - asked > ALIVE_MS) {
      asked = Date.now();
      await deps.sessionAlive(result);
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/** Who asked while another compaction ran finds nothing to do: then that one's result is the answer. */
async function resultOf(
  store: Store,
  sessionId: string,
  requestId: string,
  earlier: number,
): Promise<CompactionResult | undefined> {
  const rows = await store.compactionResults(sessionId);
  const results = rows.slice(earlier).map(({ output }) => output as unknown as CompactionResult);
  const own = results.find(({ requests }) => requests.includes(requestId));
  if (own?.outcome !== 'nothing') return own;
  return results.findLast(({ outcome }) => outcome === 'compacted') ?? own;
}
