import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';
import type { RunStatus } from '../transcript/events.ts';
import type { MediaRef } from '../transcript/items.ts';
import type { Usage } from '../transcript/message.ts';

/** A message for a session. Text over 8 KiB goes by `textRef` (a blob in the store). */
export interface SendMessage {
  /** Chosen by the sender; the same id is answered once, however often it is sent. */
  readonly messageId: string;
  readonly text?: string;
  readonly textRef?: MediaRef;
  readonly attachments?: readonly MediaRef[];
  /** `steer` joins the running run at the next step; `follow_up` is a run of its own. Default `follow_up`. */
  readonly mode?: 'steer' | 'follow_up';
  readonly agent?: string;
  /** `provider/model`. */
  readonly model?: string;
  /** Denies open approvals, so that the message is read at once. */
  readonly denyPending?: true;
  /** Store that the sender writes blobs to; refused when the run uses another. */
  readonly storeId?: string;
}

/** The message is queued; it will end in exactly one terminal event. */
export interface SendAccepted {
  readonly messageId: string;
  /** Run that is open now; the message may be answered by a later one of the chain. */
  readonly runId: string;
  /** Messages before it. */
  readonly ahead: number;
}

export interface CancelRequest {
  readonly reason?: string;
}

export interface CompactRequest {
  /** Chosen by whoever asks, to find the outcome in the store; absent on a plain signal. */
  readonly requestId?: string;
  /** What the summary should keep above all. */
  readonly instructions?: string;
}

export interface ApprovalResolution {
  readonly callId: string;
  /** Hash of the arguments that were shown; a resolution for others is refused. */
  readonly argumentsHash: string;
  readonly decision: 'approve' | 'approve_session' | 'deny';
  readonly by: string;
  readonly note?: string;
}

export interface BudgetExtension {
  readonly maxUsd?: number;
  readonly maxTokens?: number;
  readonly maxDurationMs?: number;
  readonly by: string;
}

/** What the `status` query answers. */
export interface RunStatusView {
  readonly sessionId: string;
  readonly runId: string;
  readonly status: RunStatus;
  /** Step that is under way, from 0. */
  readonly step: number;
  readonly agent: string;
  readonly model: string;
  readonly head: number;
  /** What the run does now, one line. */
  readonly activity: string;
  /** Messages that wait behind this run. */
  readonly queued: number;
  readonly storeId: string | null;
}

export interface PendingApproval {
  readonly callId: string;
  readonly name: string;
  readonly label: string;
  readonly argumentsHash: string;
  /** ISO 8601 UTC. */
  readonly deadline: string;
}

export const cancelSignal: ReturnType<typeof defineSignal<[CancelRequest?]>> = defineSignal<[CancelRequest?]>('cancel');
export const compactSignal: ReturnType<typeof defineSignal<[CompactRequest?]>> =
  defineSignal<[CompactRequest?]>('compact');
export const sendUpdate: ReturnType<typeof defineUpdate<SendAccepted, [SendMessage]>> = defineUpdate<
  SendAccepted,
  [SendMessage]
>('send');
export const resolveApprovalUpdate: ReturnType<typeof defineUpdate<PendingApproval, [ApprovalResolution]>> =
  defineUpdate<PendingApproval, [ApprovalResolution]>('resolveApproval');
export const extendBudgetUpdate: ReturnType<typeof defineUpdate<RunStatusView, [BudgetExtension]>> = defineUpdate<
  RunStatusView,
  [BudgetExtension]
>('extendBudget');
export const statusQuery: ReturnType<typeof defineQuery<RunStatusView>> = defineQuery<RunStatusView>('status');
export const pendingApprovalsQuery: ReturnType<typeof defineQuery<readonly PendingApproval[]>> =
  defineQuery<readonly PendingApproval[]>('pendingApprovals');
export const usageQuery: ReturnType<typeof defineQuery<Usage>> = defineQuery<Usage>('usage');
