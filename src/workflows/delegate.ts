import { isCancellation } from '@temporalio/workflow';
import type { DelegatedTask, DelegateEnd } from '../contract/activities.ts';
import { AGENT_RUN, workflowIdOf } from '../contract/identity.ts';
import type { agentRun } from './agent-run.ts';
import { startOwnChild } from './child-start.ts';
import { endingOf } from './failures.ts';

/**
 * Gives a task to a subagent: a run in a session of its own, which is cancelled with this one. A run that fails is an
 * end like others: the model is told. Rejects when cancelled.
 */
export async function runDelegate({ agent, sessionId, task, root }: DelegatedTask): Promise<DelegateEnd> {
  const firstLine = task.text?.trim().split('\n')[0] ?? '';
  try {
    const handle = await startOwnChild<typeof agentRun>(AGENT_RUN, {
      workflowId: workflowIdOf(sessionId),
      args: [{ sessionId, task: { ...task, agent }, root }],
      staticSummary: `${agent}: ${firstLine}`,
    });
    const { status, preview } = await handle.result();
    return { sessionId, status, preview };
  } catch (error) {
    if (isCancellation(error)) throw error;
    const { message } = endingOf(error);
    return { sessionId, status: 'failed', preview: message.slice(0, 200) };
  }
}
