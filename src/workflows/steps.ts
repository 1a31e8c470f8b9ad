import { workflowInfo } from '@temporalio/workflow';
import type {
  CallModelInput,
  CallModelOutput,
  CloseRunInput,
  ControlMessage,
  PlannedCall,
} from '../contract/activities.ts';
import type { OpenRunState } from '../contract/agent-run.ts';
import type { CompactRequest, SendMessage } from '../contract/messages.ts';
import { assertNever } from '../transcript/assert-never.ts';
import { model } from './activity-proxies.ts';
import { runBatch } from './batch.ts';
import { compact } from './compaction.ts';
import { extended, workedMs } from './people.ts';
import { show, stepSummary } from './presentation.ts';
import { refOf, runOf } from './run-state.ts';
import { addUsage, type SessionState } from './session-state.ts';

/** How the steps of a run ended, as the workflow sees it. `continue`: at a step boundary, the history is long enough. */
export type StepsEnd = CloseRunInput['ending'] | { readonly status: 'continue' } | { readonly status: 'closed' };

/** Responses that a provider may split one turn into (`pause`) before we give up on it. */
const MAX_CONTINUATIONS = 5;

/** Model, then its tools, until the model asks for nothing more. Messages join between the two, never inside. */
export async function runSteps(state: SessionState, cancelled: () => boolean): Promise<StepsEnd> {
  let control: ControlMessage | undefined;
  const left = await leftOver(state, cancelled);
  if (left !== undefined) return left;
  for (;;) {
    const requests = state.compact.splice(0, state.compact.length);
    const answer = await callModel(state, control, requests);
    control = undefined;
    if (cancelled()) return cancelEnding(state);
    switch (answer.outcome) {
      case 'final':
        if (answer.again === undefined) return { status: 'completed' };
        control = answer.again;
        advance(state, { nudged: true });
        break;
      case 'tools': {
        const stopped = await toolTurn(state, answer, cancelled);
        if (stopped !== undefined) return stopped;
        control = answer.loop === 'warn' ? 'loop' : undefined;
        break;
      }
      case 'pause': {
        const continuations = runOf(state).continuations + 1;
        if (continuations > MAX_CONTINUATIONS) {
          return failed('ProviderFailed', `the provider paused ${MAX_CONTINUATIONS} times without an answer`);
        }
        advance(state, { continuations });
        break;
      }
      case 'cancelled':
        return cancelEnding(state);
      case 'over_budget': {
        if (runOf(state).limits.onBudget !== 'ask') return failed('BudgetExceeded', answer.message);
        show(state, `waiting for a budget: ${answer.message}`);
        const more = await extended(state);
        if (cancelled()) return cancelEnding(state);
        if (!more) return failed('BudgetExceeded', answer.message);
        break;
      }
      case 'compact':
      case 'overflow':
        await compact(state, answer.compaction, requests);
        break;
      case 'failed':
        return { status: 'failed', error: answer.error, message: answer.message };
      case 'closed':
        return { status: 'closed' };
      default:
        return assertNever(answer, 'step outcome');
    }
    if (cancelled()) return cancelEnding(state);
    if (control === undefined && longEnough(state)) return { status: 'continue' };
  }
}

/** Runs the batch that the model asked for; the ending, when it may not. */
async function toolTurn(
  state: SessionState,
  answer: Extract<CallModelOutput, { outcome: 'tools' }>,
  cancelled: () => boolean,
): Promise<StepsEnd | undefined> {
  const run = runOf(state);
  state.run = { ...run, toolTurns: run.toolTurns + 1 };
  if (run.toolTurns >= run.limits.maxToolTurns) {
    return failed('MaxToolTurns', `the model asked for tools in more than ${run.limits.maxToolTurns} steps`);
  }
  show(
    state,
    `running ${answer.calls
      .map((call) => call.label)
      .join(', ')
      .slice(0, 200)}`,
  );
  return batch(state, answer.calls, cancelled);
}

/** Runs calls and goes on to the next step, unless some of them have to be waited for in a new execution. */
async function batch(
  state: SessionState,
  calls: readonly PlannedCall[],
  cancelled: () => boolean,
): Promise<StepsEnd | undefined> {
  const { failures, waiting } = await runBatch(state, calls, cancelled);
  const all = { ...runOf(state).failures, ...failures };
  if (waiting.length > 0 && !cancelled()) {
    state.run = { ...runOf(state), failures: all, waiting };
    return { status: 'continue' };
  }
  const { waiting: _done, ...run } = runOf(state);
  state.run = run;
  advance(state, { failures: all });
  return undefined;
}

/** Calls that the execution before left waiting for people. */
async function leftOver(state: SessionState, cancelled: () => boolean): Promise<StepsEnd | undefined> {
  const { waiting = [] } = runOf(state);
  if (waiting.length === 0) return undefined;
  const stopped = await batch(state, waiting, cancelled);
  return stopped ?? (cancelled() ? cancelEnding(state) : undefined);
}

/** After a compaction a history of this many events is left behind too, though the server has not asked for it. */
const LONG_HISTORY = 1000;

/** Whether to go on in a new execution: the server suggests it, or a compaction makes a good place for it. */
function longEnough(state: SessionState): boolean {
  const { continueAsNewSuggested, historyLength } = workflowInfo();
  return continueAsNewSuggested || (runOf(state).afterCompaction !== undefined && historyLength > LONG_HISTORY);
}

async function callModel(
  state: SessionState,
  control: ControlMessage | undefined,
  requests: readonly CompactRequest[],
): Promise<CallModelOutput> {
  const run = runOf(state);
  const joining = takeSteering(state);
  const input: CallModelInput = {
    ref: refOf(state),
    step: run.step,
    ...(Object.keys(run.failures).length === 0 ? {} : { failures: run.failures }),
    ...(joining.length === 0 ? {} : { append: joining }),
    ...(control === undefined ? {} : { control }),
    ...(run.nudged ? { nudged: true } : {}),
    ...(run.fellBack === true ? { model: run.model } : {}),
    ...(requests.length === 0 ? {} : { compact: requests }),
    ...(run.afterCompaction === undefined ? {} : { afterCompaction: run.afterCompaction }),
    ...(run.idleCompactions === undefined ? {} : { idleCompactions: run.idleCompactions }),
    ...(run.window === undefined ? {} : { window: run.window }),
    ...(run.extension === undefined ? {} : { extension: run.extension }),
    workedMs: workedMs(state),
  };
  state.run = { ...run, answers: [...run.answers, ...joining.map((message) => message.messageId)] };
  show(state, `step ${run.step}: waiting for ${run.model}`);
  const answer = await model.callModel.executeWithOptions(
    { summary: stepSummary(run.step, run.model, state.contextTokens) },
    [input],
  );
  const fallback = answer.model === undefined ? {} : { model: answer.model, fellBack: true as const };
  const { afterCompaction: _told, ...rest } = runOf(state);
  state.run = { ...rest, head: answer.head, failures: {}, ...fallback };
  if (answer.usage !== undefined) {
    state.contextTokens = answer.usage.inputTokens;
    state.usage = addUsage(state.usage, answer.usage);
  }
  return answer;
}

/** Takes what should join the running run out of the inbox; follow-ups stay, in order. */
function takeSteering(state: SessionState): SendMessage[] {
  const joining = state.inbox.filter((message) => message.mode === 'steer');
  const rest = state.inbox.filter((message) => message.mode !== 'steer');
  state.inbox.splice(0, state.inbox.length, ...rest);
  return joining;
}

function advance(state: SessionState, change: Partial<OpenRunState>): void {
  const run = runOf(state);
  state.run = { ...run, ...change, step: run.step + 1 };
}

export function cancelEnding(state: SessionState): CloseRunInput['ending'] {
  return { status: 'cancelled', reason: state.cancel?.reason ?? 'cancelled' };
}

function failed(error: Extract<CloseRunInput['ending'], { status: 'failed' }>['error'], message: string): StepsEnd {
  return { status: 'failed', error, message };
}
