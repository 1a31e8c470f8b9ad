import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import {
  ChildWorkflowCancellationType,
  type ChildWorkflowHandle,
  type ChildWorkflowOptions,
  getExternalWorkflowHandle,
  ParentClosePolicy,
  sleep,
  startChild,
  type Workflow,
  WorkflowIdReusePolicy,
} from '@temporalio/workflow';

/** Starts of a child whose id is taken are tried again this often, once a second. */
const MAX_STARTS = 60;

/**
 * Starts a child that ends with its parent. After a reset the child of the execution before may still be there under the
 * same id: it is told to stop first.
 */
export async function startOwnChild<T extends Workflow>(
  type: string,
  options: { readonly workflowId: string; readonly args: Parameters<T>; readonly staticSummary: string },
): Promise<ChildWorkflowHandle<T>> {
  const { workflowId, args, staticSummary } = options;
  const child = {
    workflowId,
    args,
    parentClosePolicy: ParentClosePolicy.REQUEST_CANCEL,
    workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
    cancellationType: ChildWorkflowCancellationType.WAIT_CANCELLATION_COMPLETED,
    staticSummary: staticSummary.slice(0, 200),
  } as unknown as ChildWorkflowOptions;
  for (let tries = 1; ; tries += 1) {
    try {
      return (await startChild(type, child)) as unknown as ChildWorkflowHandle<T>;
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError) || tries === MAX_STARTS) throw error;
      await getExternalWorkflowHandle(workflowId)
        .cancel()
        .catch(() => undefined);
      await sleep('1 second');
    }
  }
}
