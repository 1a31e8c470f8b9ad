import {
  type Client,
  WithStartWorkflowOperation,
  WorkflowIdConflictPolicy,
  WorkflowIdReusePolicy,
} from '@temporalio/client';
import { HoldfastError } from '../contract/errors.ts';
import { AGENT_RUN, workflowIdOf } from '../contract/identity.ts';
import { type SendAccepted, type SendMessage, sendUpdate } from '../contract/messages.ts';
import { isAlreadyStarted, isResourceExhausted, translate } from './temporal-errors.ts';

export interface AcceptOptions {
  readonly client: Client;
  readonly taskQueue: string;
  readonly sessionId: string;
  readonly message: SendMessage;
  /** `fail`: the session must be idle. `join`: queue behind an open run. */
  readonly whenBusy: 'fail' | 'join';
  readonly storeId: string;
}

/** Times that a run which is just ending is waited for before we give up; each wait ends when that execution closes. */
const MAX_TRIES = 50;
/** How long to wait for a worker to take the message before asking whether there is one, in milliseconds. */
const WORKER_PATIENCE_MS = 10_000;

/**
 * Hands a message to its session: starts a run or joins the open one, in one call. Resolves when the workflow has
 * accepted it; from then on it ends in exactly one terminal event.
 */
export async function accept(options: AcceptOptions): Promise<SendAccepted> {
  for (let tries = 1; ; tries++) {
    try {
      return await withPatience(options, attempt(options));
    } catch (error) {
      if (isAlreadyStarted(error)) throw error;
      const known = translate(error, options.sessionId);
      const closing = known instanceof HoldfastError && known.code === 'RunClosing';
      if (tries >= MAX_TRIES || !(closing || isResourceExhausted(error))) throw known;
      await (closing ? untilClosed(options) : pause(50 * tries));
    }
  }
}

async function attempt({
  client,
  taskQueue,
  sessionId,
  message,
  whenBusy,
  storeId,
}: AcceptOptions): Promise<SendAccepted> {
  const start = new WithStartWorkflowOperation(AGENT_RUN, {
    workflowId: workflowIdOf(sessionId),
    taskQueue,
    args: [{ sessionId, storeId }],
    workflowIdConflictPolicy:
      whenBusy === 'join' ? WorkflowIdConflictPolicy.USE_EXISTING : WorkflowIdConflictPolicy.FAIL,
    workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
    ...summaryOf(message),
  });
  return client.workflow.executeUpdateWithStart(sendUpdate, {
    args: [message],
    updateId: message.messageId,
    startWorkflowOperation: start,
  });
}

function summaryOf({ text }: SendMessage): { staticSummary?: string } {
  const line = text?.trim().split('\n')[0]?.slice(0, 120);
  return line === undefined || line === '' ? {} : { staticSummary: line };
}

/** The update waits for a worker without end; where nobody polls, say so. */
export async function withPatience<T>(
  { client, taskQueue }: Pick<AcceptOptions, 'client' | 'taskQueue'>,
  accepted: Promise<T>,
): Promise<T> {
  for (;;) {
    const timer = pause(WORKER_PATIENCE_MS).then(() => undefined);
    const first = await Promise.race([accepted.then((value) => ({ value })), timer]);
    if (first !== undefined) return first.value;
    if ((await pollers(client, taskQueue)) === 0) {
      accepted.catch(() => undefined);
      throw new HoldfastError('NoWorker', `no worker polls the task queue ${taskQueue}`);
    }
  }
}

/** Workers that asked for workflow tasks of the queue in the last minutes. */
export async function pollers(client: Client, taskQueue: string): Promise<number> {
  const answer = await client.workflowService.describeTaskQueue({
    namespace: client.options.namespace,
    taskQueue: { name: taskQueue },
    taskQueueType: 1,
  });
  return answer.pollers?.length ?? 0;
}

/** A run that settles a cancel or a failure refuses messages: wait until that execution has closed. */
async function untilClosed({ client, sessionId }: AcceptOptions): Promise<void> {
  const handle = client.workflow.getHandle(workflowIdOf(sessionId), undefined, { followRuns: false });
  await Promise.race([handle.result().then(ignore, ignore), pause(2000)]);
}

const ignore = (): void => undefined;

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });
}
