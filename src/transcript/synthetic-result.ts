import type { ToolCall, ToolResult, ToolResultStatus } from './items.ts';

/**
 * What the model is told of a call that ended without a result of its own.
 *
 * `aborted` says that nothing happened, `cancelled` that something may have: a model that believes the wrong one repeats
 * an effect, or trusts one that never took place. Neither says that a person refused the call; only `denied` does.
 */
export const SYNTHETIC_TEXTS: Readonly<Record<Exclude<ToolResultStatus, 'ok'>, string>> = {
  aborted: 'This call was never started: the run was interrupted before its turn came. It had no effect.',
  cancelled:
    'This call had started and was interrupted before it finished. Some or all of its effects may have happened; check before repeating it.',
  unknown_outcome:
    'No result of this call was recorded, so its outcome is unknown: it may or may not have taken effect. Check before repeating it.',
  timed_out:
    'This call did not finish in time and was told to stop. Its effects may or may not have happened; check before repeating it.',
  denied: 'This call was not run: permission was denied.',
  error: 'This call failed and gave no result.',
};

/** A result that no tool gave. `detail` (a reason, a person's note) follows the fixed text in a line of its own. */
export function syntheticResult(callId: string, status: Exclude<ToolResultStatus, 'ok'>, detail?: string): ToolResult {
  const text =
    detail === undefined || detail === '' ? SYNTHETIC_TEXTS[status] : `${SYNTHETIC_TEXTS[status]}\n${detail}`;
  return { callId, status, content: [{ type: 'text', text }] };
}

/** Answers a call whose arguments were no JSON object: never run, and the model is told what was wrong with them. */
export function unparsableResult(call: ToolCall, argumentsError: string): ToolResult {
  const text = `This call was not run: its arguments were not a JSON object (${argumentsError}). Call again with valid arguments.`;
  return { callId: call.callId, status: 'error', content: [{ type: 'text', text }] };
}
