import type { Client } from '@temporalio/client';
import { workflowIdOf } from '../contract/identity.ts';
import {
  type ApprovalResolution,
  type PendingApproval,
  pendingApprovalsQuery,
  resolveApprovalUpdate,
} from '../contract/messages.ts';
import type { OpenApproval } from '../store/approvals-port.ts';
import type { Store } from '../store/store.ts';
import type { JsonObject } from '../transcript/json.ts';
import { withPatience } from './accept.ts';
import { translate } from './temporal-errors.ts';

/** A call that waits for an approval, with what it would do. */
export interface ApprovalRequest extends OpenApproval {
  readonly arguments: JsonObject;
}

export interface ApprovalDeps {
  readonly client: Client;
  readonly store: Store;
  readonly taskQueue: string;
}

/** How long an open run may take to say what it waits for; else the store's word counts. */
const QUERY_MS = 3000;

/**
 * Calls that wait for people, of one session or of all, the nearest deadline first. With a client those are left out that
 * were decided a moment ago.
 */
export async function pendingApprovals(
  { client, store }: Pick<ApprovalDeps, 'store'> & { readonly client?: Client },
  sessionId?: string,
): Promise<readonly ApprovalRequest[]> {
  const rows = await store.openApprovals(sessionId);
  const sessions = [...new Set(rows.map((row) => row.sessionId))];
  const open = new Map(await Promise.all(sessions.map(async (id) => [id, await openCalls(client, id)] as const)));
  const calls = new Map(await Promise.all(sessions.map(async (id) => [id, await askedFor(store, id)] as const)));
  return rows
    .filter((row) => open.get(row.sessionId)?.has(row.callId) ?? true)
    .map((row) => ({ ...row, arguments: calls.get(row.sessionId)?.get(row.callId) ?? {} }));
}

/** What the open run says that it waits for; `undefined` when nobody answers for it just now. */
async function openCalls(client: Client | undefined, sessionId: string): Promise<ReadonlySet<string> | undefined> {
  if (client === undefined) return undefined;
  const handle = client.workflow.getHandle(workflowIdOf(sessionId));
  try {
    const deadline = Date.now() + QUERY_MS;
    const open = await client.connection.withDeadline(deadline, () => handle.query(pendingApprovalsQuery));
    return new Set(open.map(({ callId }) => callId));
  } catch {
    return undefined;
  }
}

/** Arguments of the calls of the session's open batch, which is its last item. */
async function askedFor(store: Store, sessionId: string): Promise<ReadonlyMap<string, JsonObject>> {
  const lastSeq = (await store.session(sessionId))?.lastSeq ?? 0;
  const [entry] = await store.entries(sessionId, { afterSeq: lastSeq - 1, limit: 1 });
  const calls = entry?.item.kind === 'tool_call_batch' ? entry.item.calls : [];
  return new Map(calls.map((call) => [call.callId, call.arguments]));
}

/**
 * Decides on a call that waits. An approval for the session covers the tool from now on, other calls of it that wait
 * already included.
 *
 * @throws HoldfastError `NotFound` when no such call waits, `InvalidInput` for other arguments than the call's or a call
 * that was decided otherwise, `NoWorker`.
 */
export async function resolveApproval(
  deps: ApprovalDeps,
  sessionId: string,
  resolution: ApprovalResolution,
): Promise<PendingApproval> {
  const resolved = await update(deps, sessionId, resolution);
  if (resolution.decision !== 'approve_session') return resolved;
  const handle = deps.client.workflow.getHandle(workflowIdOf(sessionId));
  const open = await handle.query(pendingApprovalsQuery).catch((): readonly PendingApproval[] => []);
  const others = open.filter(({ name, callId }) => name === resolved.name && callId !== resolved.callId);
  for (const { callId, argumentsHash } of others) {
    const same: ApprovalResolution = { callId, argumentsHash, decision: 'approve', by: resolution.by };
    // Decided by somebody else meanwhile: that stands.
    await update(deps, sessionId, same).catch(() => undefined);
  }
  return resolved;
}

async function update(deps: ApprovalDeps, sessionId: string, resolution: ApprovalResolution): Promise<PendingApproval> {
  const handle = deps.client.workflow.getHandle(workflowIdOf(sessionId));
  try {
    return await withPatience(deps, handle.executeUpdate(resolveApprovalUpdate, { args: [resolution] }));
  } catch (error) {
    throw translate(error, sessionId);
  }
}
