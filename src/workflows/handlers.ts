import { setHandler, workflowInfo } from '@temporalio/workflow';
import type { PlannedCall } from '../contract/activities.ts';
import { MAX_INBOX_BYTES, MAX_INBOX_MESSAGES, MAX_INLINE_BYTES } from '../contract/identity.ts';
import {
  type ApprovalResolution,
  type BudgetExtension,
  type CompactRequest,
  cancelSignal,
  compactSignal,
  extendBudgetUpdate,
  type PendingApproval,
  pendingApprovalsQuery,
  type RunStatusView,
  resolveApprovalUpdate,
  type SendAccepted,
  type SendMessage,
  sendUpdate,
  statusQuery,
  usageQuery,
} from '../contract/messages.ts';
import { refusal } from './failures.ts';
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
  setHandler(resolveApprovalUpdate, (resolution) => resolve(state, resolution), {
    validator: (resolution) => validateResolution(state, resolution),
    description: 'Answer a call that waits: {callId, argumentsHash, decision: approve|approve_session|deny, by, note?}',
  });
  setHandler(extendBudgetUpdate, (extension) => extend(state, extension), {
    validator: (extension) => validateExtension(state, extension),
    description: 'Add to the budgets of the run: {maxUsd?, maxTokens?, maxDurationMs?, by}',
  });
  setHandler(pendingApprovalsQuery, () => [...state.pending.values()].filter(isOpen(state)).map(approvalOf), {
    description: 'Calls that wait for an approval',
  });
  setHandler(usageQuery, () => state.usage, { description: 'Tokens that this execution has used' });
  setHandler(statusQuery, () => statusOf(state), { description: 'What the run is doing now' });
}

function accept(state: SessionState, message: SendMessage): SendAccepted {
  const ahead = state.inbox.length + (state.run === undefined ? 0 : 1);
  // A retried send finds its message queued already; one that a run has taken in is found in the store.
  if (!state.inbox.some((queued) => queued.messageId === message.messageId)) state.inbox.push(message);
  if (message.denyPending === true) denyPending(state);
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

function isOpen(state: SessionState) {
  return ({ callId }: PlannedCall): boolean => !state.decisions.has(callId);
}

function approvalOf({ callId, label, approval }: PlannedCall): PendingApproval {
  const { name = '', argumentsHash = '', deadline = '' } = approval ?? {};
  return { callId, name, label, argumentsHash, deadline };
}

function validateResolution(state: SessionState, resolution: ApprovalResolution): void {
  const call = state.pending.get(resolution?.callId);
  if (call?.approval === undefined) throw refusal('NotFound', `no call ${resolution?.callId} waits for an approval`);
  if (call.approval.argumentsHash !== resolution.argumentsHash) {
    throw refusal('InvalidInput', `the approval is for other arguments than those of call ${call.callId}`);
  }
  if (!DECISIONS.has(resolution.decision))
    throw refusal('InvalidInput', 'decision must be approve, approve_session or deny');
  const before = state.decisions.get(call.callId);
  if (before !== undefined && before.decision !== resolution.decision) {
    throw refusal('InvalidInput', `call ${call.callId} was decided already: ${before.decision} by ${before.by}`);
  }
}

const DECISIONS: ReadonlySet<string> = new Set(['approve', 'approve_session', 'deny']);

function resolve(state: SessionState, { callId, ...decision }: ApprovalResolution): PendingApproval {
  if (!state.decisions.has(callId)) state.decisions.set(callId, decision);
  const call = state.pending.get(callId);
  if (call === undefined) throw refusal('NotFound', `no call ${callId} waits for an approval`);
  return approvalOf(call);
}

/** Whoever writes instead of answering wants to be read: what waits is denied. */
function denyPending(state: SessionState): void {
  for (const { callId, approval } of [...state.pending.values()].filter(isOpen(state))) {
    const argumentsHash = approval?.argumentsHash ?? '';
    state.decisions.set(callId, {
      argumentsHash,
      decision: 'deny',
      by: 'user',
      note: 'The user sent a message instead.',
    });
  }
}

function validateExtension(state: SessionState, extension: BudgetExtension): void {
  if (state.run === undefined) throw refusal('NotFound', 'no run is open');
  const amounts = [extension?.maxUsd, extension?.maxTokens, extension?.maxDurationMs].filter(
    (each) => each !== undefined,
  );
  if (amounts.length === 0 || amounts.some((each) => !(each > 0))) {
    throw refusal('InvalidInput', 'an extension adds a positive maxUsd, maxTokens or maxDurationMs');
  }
}

function extend(state: SessionState, { maxUsd, maxTokens, maxDurationMs }: BudgetExtension): RunStatusView {
  const run = state.run;
  if (run !== undefined) {
    const before = run.extension ?? {};
    const extension = {
      maxUsd: (before.maxUsd ?? 0) + (maxUsd ?? 0),
      maxTokens: (before.maxTokens ?? 0) + (maxTokens ?? 0),
      maxDurationMs: (before.maxDurationMs ?? 0) + (maxDurationMs ?? 0),
    };
    state.run = { ...run, extension };
  }
  return statusOf(state);
}

function compact(state: SessionState, request: CompactRequest): void {
  const known = state.compact.some(({ requestId }) => requestId !== undefined && requestId === request.requestId);
  if (!known && !state.closing) state.compact.push(request);
}

function statusOf(state: SessionState): RunStatusView {
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
