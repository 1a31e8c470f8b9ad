import type { Activities, CloseRunInput, CloseRunOutput, Ending } from '../contract/activities.ts';
import { ERROR_HINTS, isHoldfastErrorCode } from '../contract/errors.ts';
import type { CloseRun, MessageOutcome } from '../store/store.ts';
import type { AgentEvent } from '../transcript/events.ts';
import type { TranscriptEntry } from '../transcript/items.ts';
import type { Usage } from '../transcript/message.ts';
import { preview } from '../transcript/preview.ts';
import { translated } from './failure.ts';
import { callHooks } from './hook-calls.ts';
import { lastEntries } from './last-entries.ts';
import { acceptedMessage, textOfMessage } from './message-content.ts';
import type { SharedDeps } from './model-call.ts';
import { textOf } from './response-outcome.ts';
import { currentWriter, runRef } from './writer.ts';

const NO_USAGE: Usage = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
};

export function createCloseRun(deps: SharedDeps): Activities['closeRun'] {
  return (input) => translated(() => closeRun(deps, input));
}

async function closeRun(deps: SharedDeps, input: CloseRunInput): Promise<CloseRunOutput> {
  const { store, log } = deps;
  const writer = currentWriter(input.ref.sessionId);
  const dropped = await Promise.all(input.dropped.map((message) => acceptedMessage(store, message)));
  const entries = input.ending.status === 'completed' ? await lastStep(deps, input) : [];
  const { status } = input.ending;
  const why = input.ending.status === 'failed' ? { error: input.ending.error, message: input.ending.message } : {};
  const hooks = await callHooks(deps, 'onRunEnd', input, { detail: { status, ...why } });
  const closed = await store.closeRun(writer, {
    ref: runRef(input.ref, { answered: input.step }),
    status: input.ending.status,
    events: [
      ...dropped.map(
        (message): AgentEvent => ({
          type: 'user_message_queued',
          messageId: message.messageId,
          mode: message.mode,
          preview: preview(textOfMessage(message)),
        }),
      ),
      ...hooks.events,
    ],
    final: finalOf(input, entries),
    dropped: dropped.map((message) => message.messageId),
  });
  log.info({ event: 'run.closed', session_id: input.ref.sessionId, run_id: input.ref.runId, status: closed.status });
  const usage = closed.final.type === 'final_response' ? closed.final.usage : NO_USAGE;
  return { ...terminalEnding({ runId: input.ref.runId, event: closed.final }), head: closed.head, usage };
}

function finalOf({ ending, answers }: CloseRunInput, entries: readonly TranscriptEntry[]): CloseRun['final'] {
  switch (ending.status) {
    case 'completed': {
      const items = entries.map((entry) => entry.item);
      const truncated = items.some((item) => item.kind === 'assistant_message' && item.truncated === true);
      return {
        type: 'final_response',
        text: textOf(items) || (ending.note ?? ''),
        answers,
        ...(truncated ? { truncated: true } : {}),
      };
    }
    case 'cancelled':
      return { type: 'loop_aborted', reason: ending.reason, answers };
    case 'failed':
      return {
        type: 'run_failed',
        error: ending.error,
        message: ending.message,
        hint: ERROR_HINTS[ending.error],
        answers,
      };
  }
}

/** Items of the run's last step: that is what answered. */
async function lastStep({ store }: SharedDeps, { ref }: CloseRunInput): Promise<readonly TranscriptEntry[]> {
  const entries = await lastEntries(store, ref);
  const step = entries.at(-1)?.step;
  return entries.filter((entry) => entry.runId === ref.runId && entry.step === step);
}

/** How a message ended, as a history may hold it. */
export function terminalEnding({ runId, event }: Omit<MessageOutcome, 'messageId'>): Ending {
  switch (event.type) {
    case 'final_response':
      return { runId, status: 'completed', preview: preview(event.text) };
    case 'loop_aborted':
      return { runId, status: 'cancelled', preview: preview(event.reason) };
    case 'run_failed':
      return {
        runId,
        status: 'failed',
        preview: preview(event.message),
        error: isHoldfastErrorCode(event.error) ? event.error : 'Internal',
        message: event.message,
      };
  }
}
