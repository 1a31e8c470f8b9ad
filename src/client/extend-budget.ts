import type { Client } from '@temporalio/client';
import { workflowIdOf } from '../contract/identity.ts';
import { type BudgetExtension, extendBudgetUpdate, type RunStatusView } from '../contract/messages.ts';
import { withPatience } from './accept.ts';
import { translate } from './temporal-errors.ts';

/** Adds to the limits of a session's open run; one that waits for it goes on. */
export async function extendBudget(
  deps: { readonly client: Client; readonly taskQueue: string },
  sessionId: string,
  extension: BudgetExtension,
): Promise<RunStatusView> {
  const handle = deps.client.workflow.getHandle(workflowIdOf(sessionId));
  try {
    return await withPatience(deps, handle.executeUpdate(extendBudgetUpdate, { args: [extension] }));
  } catch (error) {
    throw translate(error, sessionId);
  }
}
