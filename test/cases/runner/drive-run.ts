import { ApplicationFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import type {
  Activities,
  ActivityRef,
  AskedCompaction,
  CallFailures,
  CallModelInput,
  CallModelOutput,
  CloseRunInput,
  OpenRunOutput,
  PlannedCall,
} from '../../../src/contract/activities.ts';
import type { CompactionActivities, CompactionEnd } from '../../../src/contract/compact-session.ts';
import type { HoldfastErrorCode } from '../../../src/contract/errors.ts';
import type { CompactRequest, SendMessage } from '../../../src/contract/messages.ts';
import type { Store } from '../../../src/store/store.ts';
import type { AgentEvent } from '../../../src/transcript/events.ts';
import type { AgentItem } from '../../../src/transcript/items.ts';
import type { StopReason } from '../../../src/transcript/message.ts';
import { driveCompaction } from './drive-compaction.ts';

export interface Driven {
  readonly activities: Activities & CompactionActivities;
  readonly store: Store;
  readonly sessionId: string;
  /** Cancels what runs, as a person does. */
  readonly abort?: AbortSignal;
  /** Calls of a batch run one after the other, as exclusive ones do. */
  readonly sequential?: boolean;
  /** Default `run-1`. */
  readonly runId?: string;
  /** Requests for a compaction that wait when a step's model is to be called. */
  readonly compactBefore?: (step: number) => readonly CompactRequest[];
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
export async function driveRun(driven: Driven, prompt: string | Omit<SendMessage, 'messageId'>): Promise<DrivenRun> {
  const driver = new Driver(driven);
  return driver.run(typeof prompt === 'string' ? { text: prompt } : prompt);
}

/** Drives a run that only compacts, as a `compact` of an idle session does. */
export async function driveCompactOnly(driven: Driven, requests: readonly CompactRequest[]): Promise<DrivenRun> {
  return new Driver(driven).compactOnly(requests);
}

/** The execution that a mocked activity context belongs to. */
const OWNER: string = new MockActivityEnvironment().context.info.workflowExecution?.runId ?? '';

type Opened = Extract<OpenRunOutput, { readonly outcome: 'open' }> & { readonly ref: ActivityRef };

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

  get #runId(): string {
    return this.#driven.runId ?? 'run-1';
  }

  async run(prompt: Omit<SendMessage, 'messageId'>): Promise<DrivenRun> {
    const opened = await this.#open({ messageId: this.#runId, ...prompt });
    const steps = await this.#steps(opened);
    const ending: CloseRunInput['ending'] =
      steps.ending === 'out_of_patience' ? { status: 'cancelled', reason: 'the driver gave up' } : steps.ending;
    let closing = steps.ref;
    if (ending.status !== 'completed') {
      const settled = await this.#call(() =>
        this.#driven.activities.settleBatch({ ref: closing, step: steps.step, failures: steps.failures ?? {} }),
      );
      closing = { ...closing, head: settled.head };
    }
    await this.#close(closing, steps.step, ending, [this.#runId]);
    return this.#result(steps.ending);
  }

  async compactOnly(requests: readonly CompactRequest[]): Promise<DrivenRun> {
    const opened = await this.#open();
    if (opened.compaction === undefined) throw new TypeError('a run without a message must compact');
    const end = await this.#compact(opened, 0, opened.compaction, requests);
    const ending: CloseRunInput['ending'] =
      end.outcome === 'failed'
        ? { status: 'failed', error: end.error ?? 'CompactionFailed', message: end.message ?? 'failed' }
        : { status: 'completed', note: end.outcome };
    await this.#close(opened.ref, 0, ending, []);
    return this.#result(ending);
  }

  async #open(message?: SendMessage): Promise<Opened> {
    const { activities, sessionId } = this.#driven;
    const runId = this.#runId;
    const opened = await this.#call(() =>
      activities.openRun({ sessionId, runId, ...(message === undefined ? {} : { message }), queued: [] }),
    );
    if (opened.outcome !== 'open') throw new TypeError(`the run did not open: ${JSON.stringify(opened)}`);
    return { ...opened, ref: { sessionId, runId, storeId: opened.storeId, head: opened.head } };
  }

  async #close(
    ref: ActivityRef,
    step: number,
    ending: CloseRunInput['ending'],
    answers: readonly string[],
  ): Promise<void> {
    await this.#call(() => this.#driven.activities.closeRun({ ref, step, ending, answers, dropped: [] }));
  }

  #compact(
    { ref, model }: Pick<Opened, 'ref' | 'model'>,
    step: number,
    compaction: AskedCompaction,
    requests: readonly CompactRequest[],
  ): Promise<CompactionEnd> {
    const { activities } = this.#driven;
    const call = <T>(activity: () => Promise<T>) => this.#call(activity);
    return driveCompaction(activities, call, { ref, owner: OWNER, step, model, compaction, requests });
  }

  async #steps({ ref: first, model, limits }: Opened): Promise<StepsEnd> {
    const { activities, compactBefore = () => [] } = this.#driven;
    const { maxToolTurns } = limits;
    let ref = first;
    let compacted: Pick<CallModelInput, 'afterCompaction' | 'idleCompactions' | 'window'> = {};
    let asked = compactBefore(0);
    let failures: CallFailures = {};
    let toolTurns = 0;
    let continuations = 0;
    let control: CallModelInput['control'];
    let nudged = false;
    for (let step = 0, calls = 0; calls < PATIENCE; calls += 1) {
      const input: CallModelInput = {
        ref,
        step,
        ...compacted,
        ...(asked.length === 0 ? {} : { compact: asked }),
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
      const { afterCompaction: _told, ...kept } = compacted;
      compacted = kept;
      if (answer.outcome === 'compact' || answer.outcome === 'overflow') {
        const { window } = answer.compaction;
        const end = await this.#compact({ ref, model }, step, answer.compaction, asked);
        const idleCompactions = end.progress ? 0 : (kept.idleCompactions ?? 0) + 1;
        compacted = { ...kept, afterCompaction: end, idleCompactions, ...(window === undefined ? {} : { window }) };
        asked = [];
        continue;
      }
      asked = compactBefore(step + 1);
      control = answer.outcome === 'final' ? answer.again : undefined;
      if (control !== undefined) {
        nudged = true;
        step += 1;
        continue;
      }
      if (answer.outcome === 'tools') {
        toolTurns += 1;
        const refused = refusedTurn(toolTurns, maxToolTurns);
        if (refused !== undefined) return { ref, step, ending: refused };
        failures = await this.#batch(ref, step, answer.calls);
        if (this.#driven.abort?.aborted)
          return { ref, step, failures, ending: { status: 'cancelled', reason: 'by the user' } };
      } else if (answer.outcome === 'pause' && continuations < MAX_CONTINUATIONS) continuations += 1;
      else return { ref, step, ending: endingOf(answer) };
      step += 1;
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
    if (this.#driven.sequential === true) for (const call of calls) await one(call);
    else await Promise.all(calls.map(one));
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
    const events = (await store.events(this.#runId)).map((recorded) => recorded.event);
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
  const code = error.type?.startsWith('provider/') ? 'ProviderFailed' : error.type;
  return {
    ending: { status: 'failed', error: (code ?? 'ProviderFailed') as HoldfastErrorCode, message: error.message },
  };
}

function refusedTurn(turns: number, max: number): Ending | undefined {
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
    default:
      return { status: 'failed', error: 'ProviderFailed', message: `ended by ${answer.outcome}` };
  }
}
