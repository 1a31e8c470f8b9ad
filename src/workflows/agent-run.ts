import {
  allHandlersFinished,
  CancellationScope,
  CancelledFailure,
  condition,
  continueAsNew,
  uuid4,
  workflowInfo,
} from '@temporalio/workflow';
import type { AskedCompaction, CloseRunOutput, Ending, OpenRunOutput } from '../contract/activities.ts';
import type { AgentRunInput, AgentRunResult, OpenRunState } from '../contract/agent-run.ts';
import { isSessionId, workflowIdOf } from '../contract/identity.ts';
import type { SendMessage } from '../contract/messages.ts';
import { bookkeeping } from './activity-proxies.ts';
import { compact } from './compaction.ts';
import { endingOf, refusal } from './failures.ts';
import { isEmpty, listen } from './handlers.ts';
import { workedMs } from './people.ts';
import { show, showStatus } from './presentation.ts';
import { refOf, resetMark, runOf } from './run-state.ts';
import { isCancelled, type SessionState, sessionState } from './session-state.ts';
import { cancelEnding, runSteps, type StepsEnd } from './steps.ts';

/**
 * One run of the agent loop; when messages wait behind it, the next execution of the chain takes them.
 *
 * Its state is ids, counters and a queue. The transcript stays in the store and decisions come from activities, so a
 * tuned threshold never changes the commands of an open run. Fails with the run's error code as `type`; a cancel by
 * signal returns, a native one throws.
 */
export async function agentRun(input: AgentRunInput): Promise<AgentRunResult> {
  const state = sessionState(input);
  const root = CancellationScope.current();
  const cancelled = () => isCancelled(state, root);
  listen(state);
  check(input);
  const first = state.run === undefined ? await firstMessage(state, input) : undefined;
  const opened = first === undefined ? undefined : await open(state, input, first);

  if (opened?.outcome === 'ended') return leave(state, input, { ...opened.ending }, cancelled());
  const end = await ending(state, opened, cancelled);
  if (end.status === 'continue' && !cancelled()) return proceed(state, input);
  const closed = await CancellationScope.nonCancellable(() => close(state, end, cancelled)).catch(refusedByStore);
  // No await from here on: a message accepted now is either in the inbox that is carried over, or was refused.
  return leave(state, input, closed, root.consideredCancelled && state.cancel === undefined);
}

/** Refuses what could never run, before anything is written. */
function check(input: AgentRunInput): void {
  if (typeof input?.sessionId !== 'string' || !isSessionId(input.sessionId)) {
    throw refusal('InvalidInput', 'sessionId must match [A-Za-z0-9._-]{1,128}');
  }
  const { workflowId } = workflowInfo();
  if (workflowId !== workflowIdOf(input.sessionId)) {
    throw refusal(
      'SessionLockMismatch',
      `session ${input.sessionId} must run under the workflow id ${workflowIdOf(input.sessionId)}, not ${workflowId}`,
    );
  }
  if (input.prompt !== undefined && input.prompt.trim() === '') throw refusal('InvalidInput', 'the prompt is empty');
}

interface First {
  readonly runId: string;
  /** Absent when the run only compacts. */
  readonly message?: SendMessage;
}

/** The message that this execution answers: the prompt of a plain start, else the first that was sent. */
async function firstMessage(state: SessionState, input: AgentRunInput): Promise<First> {
  const runId = uuid4();
  if (input.carried === undefined && input.task !== undefined) return { message: input.task, runId };
  if (input.prompt !== undefined && input.carried === undefined) {
    return { message: plainMessage(input, input.prompt, runId), runId };
  }
  const arrived = () => state.inbox.length > 0 || state.compact.length > 0;
  // The update that started us is handled in this very task, so that no timer reaches the history then.
  if (!arrived() && !(await condition(arrived, '10 seconds'))) {
    throw refusal('InvalidInput', 'a run needs a prompt, or a message sent to it');
  }
  if (state.inbox.length === 0) return { runId };
  const message = state.inbox.shift();
  if (message === undefined || isEmpty(message)) throw refusal('InvalidInput', 'the message is empty');
  return { message, runId };
}

function plainMessage(input: AgentRunInput, prompt: string, runId: string): SendMessage {
  return {
    messageId: input.messageId ?? runId,
    text: prompt,
    ...(input.agent === undefined ? {} : { agent: input.agent }),
    ...(input.model === undefined ? {} : { model: input.model }),
  };
}

async function open(state: SessionState, input: AgentRunInput, { message, runId }: First): Promise<OpenRunOutput> {
  const storeId = input.storeId ?? message?.storeId;
  const opened: OpenRunOutput = await CancellationScope.nonCancellable(() =>
    bookkeeping.openRun.executeWithOptions({ summary: `open run for ${state.sessionId}` }, [
      {
        sessionId: state.sessionId,
        runId,
        ...(message === undefined ? {} : { message }),
        queued: state.inbox,
        ...(input.root === undefined ? {} : { root: input.root }),
        ...(storeId === undefined ? {} : { storeId }),
        ...resetMark(),
      },
    ]),
  ).catch(refusedByStore);
  if (opened.outcome === 'ended') return opened;
  const limits = opened.outcome === 'open' ? opened.limits : { maxToolTurns: 0, maxParallelTools: 1 };
  state.run = {
    runId,
    storeId: opened.storeId,
    head: opened.head,
    agent: opened.agent,
    model: opened.model,
    limits,
    step: 0,
    toolTurns: 0,
    continuations: 0,
    nudged: false,
    failures: {},
    answers: message === undefined ? [] : [message.messageId],
  };
  showStatus(state, 'running');
  return opened;
}

/** Runs the steps under the scope that a cancel ends, and turns whatever comes out into an ending. Never rejects. */
async function ending(
  state: SessionState,
  opened: OpenRunOutput | undefined,
  cancelled: () => boolean,
): Promise<StepsEnd> {
  if (cancelled()) return cancelEnding(state);
  if (opened?.outcome === 'refused') return { status: 'failed', error: opened.error, message: opened.message };
  try {
    const only = opened?.outcome === 'open' ? opened.compaction : undefined;
    return await state.work.run(() =>
      only === undefined ? runSteps(state, cancelled) : compactOnly(state, only, cancelled),
    );
  } catch (error) {
    // A worker that died after the cancel reports a timeout: once a cancel is asked, every rejection counts as one.
    return cancelled() ? cancelEnding(state) : endingOf(error);
  }
}

/** A run that somebody's `compact` of an idle session started. Messages that came meanwhile are answered by the next. */
async function compactOnly(
  state: SessionState,
  compaction: AskedCompaction,
  cancelled: () => boolean,
): Promise<StepsEnd> {
  const requests = state.compact.splice(0, state.compact.length);
  const end = await compact(state, compaction, requests);
  if (cancelled()) return cancelEnding(state);
  const { outcome, tokensBefore, tokensAfter, error = 'CompactionFailed', message = 'the compaction failed' } = end;
  if (outcome === 'failed') return { status: 'failed', error, message };
  const note = outcome === 'nothing' ? 'nothing to compact' : `${outcome}: ${tokensBefore} → ${tokensAfter} tokens`;
  return { status: 'completed', note };
}

/** Settles the store before the workflow closes. */
async function close(state: SessionState, end: StepsEnd, cancelled: () => boolean): Promise<Ending> {
  const run = runOf(state);
  const closing = end.status === 'closed' || end.status === 'continue' ? cancelEnding(state) : end;
  if (closing.status !== 'completed') {
    state.closing = true;
    show(state, `ending: ${closing.status}`);
    if (run.toolTurns > 0) {
      const { head } = await bookkeeping.settleBatch({ ref: refOf(state), step: run.step, ...failuresOf(state) });
      state.run = { ...runOf(state), head };
    }
  }
  const dropped = cancelled() ? state.inbox.splice(0, state.inbox.length) : [];
  const closed: CloseRunOutput = await bookkeeping.closeRun({
    ref: refOf(state),
    step: run.step,
    ending: closing,
    answers: run.answers,
    dropped,
  });
  showStatus(state, closed.status);
  show(state, closed.status);
  return endOf(closed);
}

/** Next execution of the chain, or the end of it. Synchronous up to the throw or return. */
function leave(state: SessionState, input: AgentRunInput, end: Ending, native: boolean): Promise<AgentRunResult> {
  if (state.inbox.length > 0 || (state.compact.length > 0 && !state.closing)) {
    state.run = undefined;
    return proceed(state, input, native ? { reason: 'cancelled' } : state.cancel);
  }
  if (native) throw new CancelledFailure(`run ${end.runId} was cancelled`);
  if (end.status === 'failed') throw refusal(end.error ?? 'Internal', end.message ?? end.preview);
  return Promise.resolve({ ...end, sessionId: state.sessionId });
}

/** Continues as new with everything that must not be lost. */
async function proceed(state: SessionState, input: AgentRunInput, cancel = state.cancel): Promise<AgentRunResult> {
  if (!allHandlersFinished()) throw new TypeError('a handler is still running: handlers must be synchronous');
  return continueAsNew<typeof agentRun>({
    sessionId: state.sessionId,
    ...(input.storeId === undefined ? {} : { storeId: input.storeId }),
    ...(input.root === undefined ? {} : { root: input.root }),
    carried: {
      queue: state.inbox,
      ...(state.run === undefined ? {} : { run: carriedRun(state, state.run) }),
      ...(cancel === undefined ? {} : { cancel }),
      ...(state.compact.length === 0 ? {} : { compact: state.compact }),
    },
  });
}

function carriedRun(state: SessionState, run: OpenRunState): OpenRunState {
  const decisions = Object.fromEntries(state.decisions);
  return { ...run, workedMs: workedMs(state), ...(state.decisions.size === 0 ? {} : { decisions }) };
}

/** The store refuses for good (it is another one, or an older copy). What it holds stays; the session's next run heals what is left open. */
function refusedByStore(error: unknown): never {
  const { error: type, message } = endingOf(error);
  throw refusal(type, message);
}

function failuresOf(state: SessionState) {
  const { failures } = runOf(state);
  return Object.keys(failures).length === 0 ? {} : { failures };
}

function endOf(closed: CloseRunOutput): Ending {
  const { runId, status, preview, error, message } = closed;
  return {
    runId,
    status,
    preview,
    ...(error === undefined ? {} : { error }),
    ...(message === undefined ? {} : { message }),
  };
}
