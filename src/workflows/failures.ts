import { ActivityFailure, ApplicationFailure, ChildWorkflowFailure, TimeoutFailure } from '@temporalio/workflow';
import type { CloseRunInput } from '../contract/activities.ts';
import { type HoldfastErrorCode, isHoldfastErrorCode } from '../contract/errors.ts';

type Failed = Extract<CloseRunInput['ending'], { status: 'failed' }>;

/** What a rejected activity or child means for the run. Classes do not survive the boundary, so it goes by the `type` string. */
export function endingOf(error: unknown): Failed {
  const cause = causeOf(error);
  if (cause instanceof ApplicationFailure) {
    return { status: 'failed', error: codeOf(cause.type), message: cause.message.slice(0, 500) };
  }
  if (cause instanceof TimeoutFailure) {
    return {
      status: 'failed',
      error: 'ProviderFailed',
      message: 'it did not succeed within its time limits',
    };
  }
  return {
    status: 'failed',
    error: 'Internal',
    message: cause instanceof Error ? cause.message.slice(0, 500) : 'unknown failure',
  };
}

/** What stands behind the failures that Temporal wraps around it. */
function causeOf(error: unknown): unknown {
  let cause = error;
  while (cause instanceof ActivityFailure || cause instanceof ChildWorkflowFailure) cause = cause.cause;
  return cause;
}

function codeOf(type: string | null | undefined): HoldfastErrorCode {
  if (type === 'provider/context_overflow') return 'ContextUnfittable';
  if (type?.startsWith('provider/') === true) return 'ProviderFailed';
  return type !== null && type !== undefined && isHoldfastErrorCode(type) ? type : 'Internal';
}

/** A failure with a name of the closed list, for good. */
export function refusal(type: HoldfastErrorCode, message: string): ApplicationFailure {
  return ApplicationFailure.create({ type, message, nonRetryable: true });
}
