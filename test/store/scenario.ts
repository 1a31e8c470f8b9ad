import type { CommitCheckpoint, CommitPhase } from '../../src/store/compaction-port.ts';
import type {
  AcceptedMessage,
  CloseRun,
  CommitStep,
  OpenRun,
  RunRef,
  Settlement,
  Store,
  Writer,
} from '../../src/store/store.ts';
import type { AgentEvent } from '../../src/transcript/events.ts';
import type { AgentItem, ResponseRef, ToolCall } from '../../src/transcript/items.ts';
import type { ViewEdit } from '../../src/transcript/view-edits.ts';

const RESPONSE: ResponseRef = { id: 'resp', provider: 'offline', model: 'echo', api: 'offline' };

export function message(messageId: string, text = `text of ${messageId}`): AcceptedMessage {
  return { messageId, mode: 'follow_up', content: [{ type: 'text', text }] };
}

export function userItem(messageId: string, text = `text of ${messageId}`): AgentItem {
  return { kind: 'user_message', schemaVersion: 1, messageId, origin: 'steer', content: [{ type: 'text', text }] };
}

export function assistantItem(text: string): AgentItem {
  return { kind: 'assistant_message', schemaVersion: 1, response: RESPONSE, content: [{ type: 'text', text }] };
}

function call(callId: string): ToolCall {
  return { callId, nativeId: `native-${callId}`, name: 'look', arguments: { at: callId } };
}

export function batchItem(...callIds: readonly string[]): AgentItem {
  return { kind: 'tool_call_batch', schemaVersion: 1, response: RESPONSE, calls: callIds.map(call) };
}

export function requested(step: number, callId: string): AgentEvent {
  return { type: 'tool_call_requested', step, callId, name: 'look', label: 'look', arguments: {} };
}

/** An edit that replaces what the model said. */
export function edit(seq: number, text = `cut ${seq}`): ViewEdit {
  const action = { type: 'set_text', text } as const;
  return { schemaVersion: 1, seq, action, reason: 'drop_assistant_text', tokensBefore: 9, tokensAfter: 1 };
}

/** One execution's view of one run: what a workflow would remember, and the calls that its activities make. */
export class Execution {
  readonly store: Store;
  readonly sessionId: string;
  readonly runId: string;
  readonly owner: string;
  readonly scheduledAtMs: number;
  storeId = '';
  head = 0;
  #activities = 0;

  constructor(store: Store, place: { sessionId: string; runId: string; owner?: string; scheduledAtMs?: number }) {
    this.store = store;
    this.sessionId = place.sessionId;
    this.runId = place.runId;
    this.owner = place.owner ?? 'execution-1';
    this.scheduledAtMs = place.scheduledAtMs ?? 1_000;
  }

  writer(options: { activityId?: string; attempt?: number } = {}): Writer {
    this.#activities += 1;
    return {
      sessionId: this.sessionId,
      owner: this.owner,
      scheduledAtMs: this.scheduledAtMs,
      activityId: options.activityId ?? `activity-${this.#activities}`,
      attempt: options.attempt ?? 1,
    };
  }

  ref(): RunRef {
    return { storeId: this.storeId, runId: this.runId, head: this.head };
  }

  opening(messageId: string, queued: readonly AcceptedMessage[] = []): OpenRun {
    return {
      runId: this.runId,
      message: message(messageId),
      agent: 'helper',
      model: 'offline/echo',
      config: { maxToolTurns: 10 },
      queued,
    };
  }

  async open(messageId: string, queued: readonly AcceptedMessage[] = [], writer: Writer = this.writer()) {
    const opened = await this.store.openRun(writer, this.opening(messageId, queued));
    this.storeId = opened.storeId;
    this.head = opened.head;
    return opened;
  }

  async begin(
    step: number,
    more: {
      append?: readonly AgentItem[];
      joined?: readonly string[];
      events?: readonly AgentEvent[];
      settlement?: Settlement;
    } = {},
    writer: Writer = this.writer({ activityId: `step-${step}` }),
  ) {
    const { append = [], joined = [], events = [], settlement = {} } = more;
    const begun = await this.store.beginStep(writer, { ref: this.ref(), step, settlement, append, joined, events });
    this.head = begun.head;
    return begun;
  }

  async commit(
    step: number,
    items: readonly AgentItem[],
    more: Partial<Omit<CommitStep, 'ref' | 'step' | 'items'>> = {},
    writer: Writer = this.writer({ activityId: `step-${step}` }),
  ) {
    const committed = await this.store.commitStep(writer, {
      ref: this.ref(),
      step,
      items,
      events: [],
      usage: null,
      costUsd: null,
      model: 'offline/echo',
      request: { step },
      outcome: { step },
      ...more,
    });
    this.head = committed.head;
    return committed;
  }

  /** A whole step that asks for these calls. */
  async ask(step: number, ...callIds: readonly string[]): Promise<void> {
    await this.begin(step);
    await this.commit(step, [batchItem(...callIds)]);
  }

  startCall(
    step: number,
    callId: string,
    more: { effect?: 'read_only' | 'idempotent' | 'at_most_once'; leaseMs?: number; attempt?: number } = {},
  ) {
    const writer = this.writer({ activityId: `call-${callId}`, attempt: more.attempt ?? 1 });
    return this.store.beginCall(writer, {
      ref: this.ref(),
      step,
      callId,
      name: 'look',
      effect: more.effect ?? 'read_only',
      leaseMs: more.leaseMs ?? 0,
      event: { type: 'tool_call_started', step, callId, name: 'look', label: 'look', attempt: writer.attempt },
    });
  }

  endCall(step: number, callId: string, more: { text?: string; fullOutput?: string; attempt?: number } = {}) {
    const text = more.text ?? `result of ${callId}`;
    return this.store.commitCall(this.writer({ activityId: `call-${callId}`, attempt: more.attempt ?? 1 }), {
      ref: this.ref(),
      step,
      callId,
      name: 'look',
      result: { callId, status: 'ok', content: [{ type: 'text', text }] },
      ...(more.fullOutput === undefined ? {} : { fullOutput: more.fullOutput }),
      events: [
        { type: 'tool_call_completed', step, callId, name: 'look', preview: text, bytes: text.length, durationMs: 1 },
      ],
    });
  }

  /** A run that only compacts. */
  async openWithout(writer: Writer = this.writer()) {
    const { message: _, ...opening } = this.opening('none');
    const opened = await this.store.openRun(writer, opening);
    this.storeId = opened.storeId;
    this.head = opened.head;
    return opened;
  }

  /** One phase of a compaction, as an activity of its child workflow commits it. */
  phase(
    compactionId: string,
    phase: string,
    more: Partial<Omit<CommitPhase, 'ref' | 'compactionId' | 'phase'>> = {},
    writer: Writer = this.writer({ activityId: `${compactionId}/${phase}` }),
  ) {
    const input = { ref: this.ref(), step: 0, compactionId, phase, output: { of: phase }, events: [], ...more };
    return this.store.commitPhase(writer, input);
  }

  /** A checkpoint that replaces what stands before `firstKeptSeq`, planned on the view as it is now. */
  async checkpoint(
    compactionId: string,
    firstKeptSeq: number,
    more: Partial<CommitCheckpoint> = {},
    writer: Writer = this.writer({ activityId: `${compactionId}/commit` }),
  ) {
    const { store, sessionId } = this;
    const fromSeq = (await store.checkpoint(sessionId))?.firstKeptSeq ?? 1;
    const toSeq = firstKeptSeq - 1;
    return await store.commitCheckpoint(writer, {
      ref: this.ref(),
      step: 0,
      compactionId,
      trigger: 'manual',
      reason: 'asked for',
      summary: `summary ${compactionId}`,
      firstKeptSeq,
      protectedSeqs: [],
      fromSeq,
      toSeq,
      sourceHash: await store.sourceHash(sessionId, fromSeq, toSeq),
      tokensBefore: 100,
      tokensAfter: 10,
      providerId: 'offline',
      model: 'echo',
      quality: { passed: true },
      metadata: { mode: 'ride' },
      revision: await store.viewRevision(sessionId),
      output: { compactionId },
      events: [],
      ...more,
    });
  }

  close(
    final: CloseRun['final'],
    more: Partial<Pick<CloseRun, 'status' | 'events' | 'dropped'>> = {},
    writer = this.writer(),
  ) {
    const status = ({ final_response: 'completed', loop_aborted: 'cancelled', run_failed: 'failed' } as const)[
      final.type
    ];
    return this.store.closeRun(writer, { ref: this.ref(), status, events: [], dropped: [], ...more, final });
  }

  answer(...answers: readonly string[]) {
    return this.close({ type: 'final_response', text: 'done', answers });
  }
}
