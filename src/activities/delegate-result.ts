import type { DelegateEnd } from '../contract/activities.ts';
import { assertNever } from '../transcript/assert-never.ts';
import type { ToolResultStatus } from '../transcript/items.ts';
import { type Executed, type Execution, fitted } from './tool-execution.ts';

/** The whole answer of a subagent as the result of the call that gave it the task; how its run ended, where there is none. */
export async function delegateResult(execution: Execution, end: DelegateEnd): Promise<Executed> {
  const { store, call } = execution;
  const outcome = await store.outcome(end.sessionId, call.callId);
  const { status, text } = told(end, outcome?.event);
  return fitted(execution, status, [{ type: 'text', text }]);
}

type Outcome = NonNullable<Awaited<ReturnType<Execution['store']['outcome']>>>['event'];

function told(end: DelegateEnd, event: Outcome | undefined): { status: ToolResultStatus; text: string } {
  switch (event?.type) {
    case 'final_response':
      return { status: 'ok', text: event.text.trim() === '' ? 'The agent gave an empty answer.' : event.text };
    case 'run_failed':
      return { status: 'error', text: `The agent failed (${event.error}): ${event.message}` };
    case 'loop_aborted':
      return { status: 'cancelled', text: `The agent was stopped before it had an answer: ${event.reason}` };
    case undefined:
      // Its run never began, or ended outside of our hands.
      return { status: 'error', text: `The agent gave no answer (${end.status}): ${end.preview}` };
    default:
      return assertNever(event, 'outcome');
  }
}
