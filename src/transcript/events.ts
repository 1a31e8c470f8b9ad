import type { ToolResultStatus } from './items.ts';
import type { JsonObject } from './json.ts';
import type { StopReason, Usage } from './message.ts';
import type { Repair } from './repair.ts';

/**
 * The version of every persisted event payload.
 *
 * - 1: first version.
 */
export const EVENT_SCHEMA_VERSION = 1;

/** Why a compaction happens. `overflow_retry`: the provider said that the request does not fit; once per model call. */
export type CompactionTrigger = 'manual' | 'pre_turn' | 'mid_loop' | 'overflow_retry' | 'model_downshift';

/**
 * What happened in a run, as readers see it. Events are append-only, with a gap-free index within their run; the two
 * delta events live outside the index and go once the finished item is committed.
 *
 * Texts are what people read; previews are at most 200 characters.
 */
export type AgentEvent =
  | {
      readonly type: 'run_started';
      readonly messageId: string;
      readonly agent: string;
      readonly model: string;
      readonly prompt: string;
    }
  | { readonly type: 'assistant_text_delta'; readonly step: number; readonly text: string }
  | { readonly type: 'reasoning_delta'; readonly step: number; readonly text: string }
  | {
      readonly type: 'assistant_message_done';
      readonly step: number;
      readonly text: string;
      readonly usage: Usage | null;
      readonly stopReason: StopReason;
      readonly interrupted?: true;
    }
  | {
      readonly type: 'tool_call_requested';
      readonly step: number;
      readonly callId: string;
      readonly name: string;
      readonly label: string;
      readonly arguments: JsonObject;
    }
  | {
      readonly type: 'tool_call_started';
      readonly step: number;
      readonly callId: string;
      readonly name: string;
      readonly label: string;
      readonly attempt: number;
    }
  | {
      readonly type: 'tool_call_completed';
      readonly step: number;
      readonly callId: string;
      readonly name: string;
      readonly preview: string;
      readonly bytes: number;
      readonly durationMs: number;
    }
  | {
      readonly type: 'tool_call_failed';
      readonly step: number;
      readonly callId: string;
      readonly name: string;
      readonly status: Exclude<ToolResultStatus, 'ok'>;
      readonly preview: string;
      readonly durationMs: number;
    }
  | {
      readonly type: 'final_response';
      readonly text: string;
      readonly answers: readonly string[];
      readonly steps: number;
      readonly usage: Usage;
      readonly costUsd: number | null;
      readonly truncated?: true;
    }
  | { readonly type: 'loop_aborted'; readonly reason: string; readonly answers: readonly string[] }
  | {
      readonly type: 'run_failed';
      readonly error: string;
      readonly message: string;
      readonly hint: string;
      readonly answers: readonly string[];
    }
  | {
      readonly type: 'model_attempt_restarted';
      readonly step: number;
      readonly attempt: number;
      readonly reason: string;
    }
  | {
      readonly type: 'model_fallback';
      readonly step: number;
      readonly from: string;
      readonly to: string;
      readonly reason: string;
    }
  | {
      readonly type: 'input_truncated_by_server';
      readonly step: number;
      readonly estimatedTokens: number;
      readonly reportedTokens: number;
    }
  | { readonly type: 'hook_failed'; readonly hook: string; readonly message: string }
  | {
      readonly type: 'approval_requested';
      readonly step: number;
      readonly callId: string;
      readonly name: string;
      readonly label: string;
      readonly argumentsHash: string;
      readonly deadline: string;
    }
  | {
      readonly type: 'approval_resolved';
      readonly step: number;
      readonly callId: string;
      readonly decision: 'approve' | 'approve_session' | 'deny' | 'timed_out';
      readonly by: string;
      readonly note?: string;
    }
  | {
      readonly type: 'user_message_queued';
      readonly messageId: string;
      readonly mode: 'steer' | 'follow_up';
      readonly preview: string;
    }
  | {
      readonly type: 'compaction_started';
      readonly compactionId: string;
      readonly trigger: CompactionTrigger;
      readonly tokensBefore: number;
    }
  | {
      readonly type: 'compaction_completed';
      readonly compactionId: string;
      readonly tokensBefore: number;
      readonly tokensAfter: number;
      readonly detail: JsonObject;
    }
  | {
      readonly type: 'compaction_failed';
      readonly compactionId: string;
      readonly error: string;
      readonly message: string;
    }
  | {
      readonly type: 'budget_warning';
      readonly scope: 'run' | 'session';
      readonly limit: string;
      readonly used: number;
      readonly max: number;
    }
  | {
      readonly type: 'terminal_without_tool_calls';
      readonly step: number;
      readonly looksLikeToolPromise: boolean;
      readonly nudged: boolean;
    }
  | { readonly type: 'transcript_repaired'; readonly repairs: readonly Repair[] };

export type AgentEventType = AgentEvent['type'];

/** An event as a reader gets it. `index` is `null` for deltas; `at` is ISO 8601 UTC. */
export interface RecordedEvent {
  readonly schemaVersion: 1;
  readonly runId: string;
  readonly index: number | null;
  readonly at: string;
  readonly event: AgentEvent;
}

/** `abandoned`: the workflow was terminated or vanished, and the session's next run found it open. */
export type RunStatus = 'running' | 'waiting' | 'completed' | 'cancelled' | 'failed' | 'abandoned';

/** The three events of which each accepted message id gets exactly one. */
export const TERMINAL_EVENT_TYPES = ['final_response', 'loop_aborted', 'run_failed'] as const;
