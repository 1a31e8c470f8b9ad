import type { AgentEvent, AgentEventType } from '../../transcript/events.ts';
import { compacted, TRIGGERS } from './compaction.ts';
import { count } from './quantities.ts';
import { visibleLine } from './visible.ts';

type EventOf<T extends AgentEventType> = Extract<AgentEvent, { type: T }>;

/** What a person is told of an event that is no text and no tool call, in one line; `null`: nothing. */
const NOTICES: { readonly [T in AgentEventType]: null | ((event: EventOf<T>) => string | null) } = {
  run_started: null,
  assistant_text_delta: null,
  reasoning_delta: null,
  assistant_message_done: null,
  tool_call_requested: null,
  tool_call_started: null,
  tool_call_completed: null,
  tool_call_failed: null,
  final_response: null,
  loop_aborted: null,
  run_failed: null,
  model_attempt_restarted: ({ attempt, reason }) =>
    `the model's answer broke off (${line(reason)}); attempt ${attempt}`,
  model_fallback: ({ from, to, reason }) => `${line(from)} cannot answer (${line(reason)}); going on with ${line(to)}`,
  input_truncated_by_server: ({ estimatedTokens, reportedTokens }) =>
    `the server read only ${count(reportedTokens)} of about ${count(estimatedTokens)} tokens`,
  hook_failed: ({ hook, message }) => `hook ${line(hook)} failed: ${line(message)}`,
  approval_requested: ({ label, deadline }) => `waiting for approval until ${line(deadline)}: ${line(label)}`,
  approval_resolved: ({ decision, by, note }) =>
    decision === 'timed_out'
      ? 'nobody approved it in time; it was not run'
      : `${DECIDED[decision]} by ${line(by)}${note === undefined ? '' : `: ${line(note)}`}`,
  user_message_queued: ({ mode, preview }) => `${mode === 'steer' ? 'steering' : 'queued'}: ${line(preview)}`,
  compaction_started: ({ trigger, tokensBefore }) => `compacting ${count(tokensBefore)} tokens (${TRIGGERS[trigger]})`,
  compaction_completed: compacted,
  compaction_failed: ({ error, message }) =>
    error === 'cancelled'
      ? 'compaction cancelled, history is as it was'
      : `compaction failed, history is as it was: ${line(message)}`,
  budget_warning: ({ scope, limit, used, max }) => `${scope} budget: ${used} of ${max} ${line(limit)} used`,
  terminal_without_tool_calls: ({ nudged }) => (nudged ? 'promised to act without acting; reminded once' : null),
  transcript_repaired: ({ repairs }) => `repaired the transcript in ${repairs.length} places`,
};

const DECIDED: Readonly<Record<'approve' | 'approve_session' | 'deny', string>> = {
  approve: 'approved',
  approve_session: 'approved for the session',
  deny: 'denied',
};

export function notice(event: AgentEvent): string | null {
  // The table pairs each type with a function of that very type, which an index by a union cannot say.
  const tell = NOTICES[event.type] as null | ((event: AgentEvent) => string | null);
  return tell === null ? null : tell(event);
}

function line(text: string): string {
  return visibleLine(text, 160);
}
