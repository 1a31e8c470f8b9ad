import { ApplicationFailure, setHandler, workflowInfo } from '@temporalio/workflow';
import type { HoldfastErrorCode } from '../contract/errors.ts';
import { MAX_INBOX_BYTES, MAX_INBOX_MESSAGES, MAX_INLINE_BYTES } from '../contract/identity.ts';
import {
  type CompactRequest,
  cancelSignal,
  compactSignal,
  type SendAccepted,
  type SendMessage,
  sendUpdate,
  statusQuery,
} from '../contract/messages.ts';
import type { SessionState } from './session-state.ts';

/** Handlers only enqueue or tell: a message joins at a step boundary, never between a call and its result. */
export function listen(state: SessionState): void {
  setHandler(sendUpdate, (message) => accept(state, message), {
    validator: (message) => validate(state, message),
    description: 'Queue a user message: {messageId, text, mode?: steer|follow_up, agent?, model?}',
  });
  setHandler(cancelSignal, (request) => cancel(state, request?.reason), {
    description: 'Stop the run: {reason?}. It settles its transcript and returns.',
  });
  setHandler(compactSignal, (request) => compact(state, request ?? {}), {
    description: 'Compact the session at the next step boundary: {instructions?, requestId?}',
  });
  setHandler(statusQuery, () => statusOf(state), { description: 'What the run is doing now' });
}

function accept(state: SessionState, message: SendMessage): SendAccepted {
  const ahead = state.inbox.length + (state.run === undefined ? 0 : 1);
  // A retried send finds its message queued already; one that a run has taken in is found in the store.
  if (!state.inbox.some((queued) => queued.messageId === message.messageId)) state.inbox.push(message);
  return { messageId: message.messageId, runId: state.run?.runId ?? '', ahead };
}

/** Must stay synchronous: an async validator that rejects loops the workflow task. */
function validate(state: SessionState, message: SendMessage): void {
  if (state.closing) throw refusal('RunClosing', 'the run is just ending');
  if (typeof message?.messageId !== 'string' || message.messageId === '')
    throw refusal('InvalidInput', 'a message needs a messageId');
  if (isEmpty(message)) throw refusal('InvalidInput', 'the message is empty');
  if ((message.text?.length ?? 0) > MAX_INLINE_BYTES)
    throw refusal('InvalidInput', 'text over 8 KiB must go by textRef');
  const bytes = state.inbox.reduce((sum, queued) => sum + (queued.text?.length ?? 0), message.text?.length ?? 0);
  if (state.inbox.length >= MAX_INBOX_MESSAGES || bytes > MAX_INBOX_BYTES) {
    throw refusal('InboxFull', `${state.inbox.length} messages wait already`);
  }
}

export function isEmpty(message: SendMessage): boolean {
  const hasText = typeof message.text === 'string' && message.text.trim() !== '';
  return !hasText && message.textRef === undefined && (message.attachments?.length ?? 0) === 0;
}

function cancel(state: SessionState, reason: string | undefined): void {
  if (state.cancel !== undefined) return;
  state.cancel = reason === undefined ? {} : { reason };
  state.closing = true;
  state.work.cancel();
}

function compact(state: SessionState, request: CompactRequest): void {
  const known = state.compact.some(({ requestId }) => requestId !== undefined && requestId === request.requestId);
  if (!known && !state.closing) state.compact.push(request);
}

function statusOf(state: SessionState) {
  return {
    sessionId: state.sessionId,
    runId: state.run?.runId ?? workflowInfo().runId,
    status: state.status,
    step: state.run?.step ?? 0,
    agent: state.run?.agent ?? '',
    model: state.run?.model ?? '',
    head: state.run?.head ?? 0,
    activity: state.activity,
    queued: state.inbox.length,
    storeId: state.run?.storeId ?? null,
  };
}

function refusal(type: HoldfastErrorCode, message: string): ApplicationFailure {
  return ApplicationFailure.create({ type, message, nonRetryable: true });
}
