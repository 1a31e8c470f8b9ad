import { ApplicationFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import type {
  Activities,
  ActivityRef,
  CallFailures,
  CallModelInput,
  CallModelOutput,
  CloseRunInput,
  PlannedCall,
} from '../../../src/contract/activities.ts';
import type { Store } from '../../../src/store/store.ts';
import type { AgentEvent } from '../../../src/transcript/events.ts';
import type { AgentItem } from '../../../src/transcript/items.ts';
import type { StopReason } from '../../../src/transcript/message.ts';

export interface Driven {
  readonly activities: Activities;
  readonly store: Store;
  readonly sessionId: string;
  /** Cancels what runs, as a person does. */
  readonly abort?: AbortSignal;
  /** Calls of a batch run one after the other, as exclusive ones do. */
  readonly sequential?: boolean;
}

/** What a run left behind. */
export interface DrivenRun {
  readonly items: readonly AgentItem[];
  readonly events: readonly AgentEvent[];
  readonly modelAnswers: readonly StopReason[];
  /** Absent: the run did not end in an answer. */
  readonly finalText?: string;
  /** Whether the product ended the run, not the driver's patience. */
  readonly ended: boolean;
  /** Code of the error that ended the run, if one did. */
  readonly error?: string;
  /** Bytes of the largest activity result. */
  readonly largestOutput: number;
}

/** Model calls after which the driver gives up: far beyond every guard of the product. */
const PATIENCE = 40;
/** Attempts of one activity; waits between them are left out. */
const MAX_ATTEMPTS = 4;
/** Continuations of a paused turn that the workflow allows. */
const MAX_CONTINUATIONS = 5;

/**
 * Drives one run through the activities in the order of the workflow `agentRun`, each in an activity context, without a
 * server: open, then model and tools in turn, then close. Rejections that may be retried are, at once.
 */
export async function driveRun(driven: Driven, prompt: string): Promise<DrivenRun> {
  const driver = new Driver(driven);
  return driver.run(prompt);
}

interface StepsEnd {
  readonly ref: ActivityRef;
  readonly step: number;
  readonly ending: Ending;
  /** Calls of the last batch that left no result. */
  readonly failures?: CallFailures;
}

type Ending = CloseRunInput['ending'] | 'out_of_patience';

class Driver {
  readonly #driven: Driven;
  #activityId = 0;
  #largest = 0;

  constructor(driven: Driven) {
    this.#driven = driven;
  }

  async run(prompt: string): Promise<DrivenRun> {
    const { activities, sessionId } = this.#driven;
    const message = { messageId: 'run-1', text: prompt };
    const opened = await this.#call(() => activities.openRun({ sessionId, runId: 'run-1', message, queued: [] }));
    if (opened.outcome !== 'open') throw new TypeError(`the run did not open: ${JSON.stringify(opened)}`);
    const ref = { sessionId, runId: 'run-1', storeId: opened.storeId, head: opened.head };
    const steps = await this.#steps(ref, opened.limits.maxToolTurns);
    const ending: CloseRunInput['ending'] =
      steps.ending === 'out_of_patience' ? { status: 'cancelled', reason: 'the driver gave up' } : steps.ending;
    let closing = steps.ref;
    if (ending.status !== 'completed') {
      const settled = await this.#call(() =>
        activities.settleBatch({ ref: closing, step: steps.step, failures: steps.failures ?? {} }),
      );
      closing = { ...closing, head: settled.head };
    }
    await this.#call(() =>
      activities.closeRun({ ref: closing, step: steps.step, ending, answers: ['run-1'], dropped: [] }),
    );
    return this.#result(steps.ending);
  }

  async #steps(first: ActivityRef, maxToolTurns: number): Promise<StepsEnd> {
    const { activities } = this.#driven;
    let ref = first;
    let failures: CallFailures = {};
    let toolTurns = 0;
    let continuations = 0;
    let control: CallModelInput['control'];
    let nudged = false;
    for (let step = 0; step < PATIENCE; step += 1) {
      const input: CallModelInput = {
        ref,
        step,
        ...(Object.keys(failures).length === 0 ? {} : { failures }),
        ...(control === undefined ? {} : { control }),
        ...(nudged ? { nudged: true as const } : {}),
      };
      const answer: CallModelOutput | { readonly ending: Ending } = await this.#call(() =>
        activities.callModel(input),
      ).catch(failed);
      if ('ending' in answer) return { ref, step, ending: answer.ending };
      ref = { ...ref, head: answer.head };
      failures = {};
      control = answer.outcome === 'final' ? answer.again : undefined;
      if (control !== undefined) {
        nudged = true;
        continue;
      }
      if (answer.outcome === 'tools') {
        toolTurns += 1;
        const refused = refusedTurn(answer, toolTurns, maxToolTurns);
        if (refused !== undefined) return { ref, step, ending: refused };
        failures = await this.#batch(ref, step, answer.calls);
        if (this.#driven.abort?.aborted)
          return { ref, step, failures, ending: { status: 'cancelled', reason: 'by the user' } };
      } else if (answer.outcome === 'pause' && continuations < MAX_CONTINUATIONS) continuations += 1;
      else return { ref, step, ending: endingOf(answer) };
    }
    return { ref, step: PATIENCE, ending: 'out_of_patience' };
  }

  async #batch(ref: ActivityRef, step: number, calls: readonly PlannedCall[]): Promise<CallFailures> {
    const failures: Record<string, CallFailures[string]> = {};
    const one = async ({ callId }: PlannedCall): Promise<void> => {
      if (this.#driven.abort?.aborted) {
        failures[callId] = { status: 'aborted' };
        return;
      }
      try {
        await this.#call(() => this.#driven.activities.callTool({ ref, step, callId }));
      } catch (error) {
        failures[callId] = { status: 'error', message: error instanceof Error ? error.message : 'failed' };
      }
    };
    const open = calls.filter((call) => call.settled !== true);
    if (this.#driven.sequential === true) for (const call of open) await one(call);
    else await Promise.all(open.map(one));
    return failures;
  }

  /** Runs one activity in its context, again while its failure may be retried. */
  async #call<T>(activity: () => Promise<T>): Promise<T> {
    this.#activityId += 1;
    for (let attempt = 1; ; attempt += 1) {
      const info = { activityId: String(this.#activityId), attempt, currentAttemptScheduledTimestampMs: Date.now() };
      const environment = new MockActivityEnvironment(info, { logger: new DefaultLogger('ERROR', () => undefined) });
      const cancel = () => environment.cancel();
      this.#driven.abort?.addEventListener('abort', cancel, { once: true });
      try {
        const output = await environment.run<[], T, () => Promise<T>>(activity);
        this.#largest = Math.max(this.#largest, Buffer.byteLength(JSON.stringify(output) ?? ''));
        return output;
      } catch (error) {
        const final = error instanceof ApplicationFailure && error.nonRetryable === true;
        if (final || attempt === MAX_ATTEMPTS) throw error;
      } finally {
        this.#driven.abort?.removeEventListener('abort', cancel);
      }
    }
  }

  async #result(ending: Ending): Promise<DrivenRun> {
    const { store, sessionId } = this.#driven;
    const entries = await store.entries(sessionId);
    const events = (await store.events('run-1')).map((recorded) => recorded.event);
    const final = events.findLast((event) => event.type === 'final_response');
    const failure = events.findLast((event) => event.type === 'run_failed');
    return {
      items: entries.map((entry) => entry.item),
      events,
      modelAnswers: events.flatMap((event) => (event.type === 'assistant_message_done' ? [event.stopReason] : [])),
      ended: ending !== 'out_of_patience',
      largestOutput: this.#largest,
      ...(final === undefined ? {} : { finalText: final.text }),
      ...(failure === undefined ? {} : { error: failure.error }),
    };
  }
}

function failed(error: unknown): { readonly ending: Ending } {
  if (!(error instanceof ApplicationFailure)) throw error;
  return { ending: { status: 'failed', error: 'ProviderFailed', message: error.message } };
}

function refusedTurn(
  { loop }: Extract<CallModelOutput, { outcome: 'tools' }>,
  turns: number,
  max: number,
): Ending | undefined {
  if (loop === 'end') return { status: 'failed', error: 'ToolLoop', message: 'the model repeated the same call' };
  return turns > max
    ? { status: 'failed', error: 'MaxToolTurns', message: `more than ${max} steps with tools` }
    : undefined;
}

function endingOf(answer: CallModelOutput): Ending {
  switch (answer.outcome) {
    case 'final':
      return { status: 'completed' };
    case 'failed':
      return { status: 'failed', error: answer.error, message: answer.message };
    case 'over_budget':
      return { status: 'failed', error: 'BudgetExceeded', message: answer.message };
    case 'compact':
    case 'overflow':
      return { status: 'failed', error: 'ContextUnfittable', message: 'the request does not fit' };
    default:
      return { status: 'failed', error: 'ProviderFailed', message: `ended by ${answer.outcome}` };
  }
}
