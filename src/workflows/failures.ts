import { ActivityFailure, ApplicationFailure, TimeoutFailure } from '@temporalio/workflow';
import type { CloseRunInput } from '../contract/activities.ts';
import { type HoldfastErrorCode, isHoldfastErrorCode } from '../contract/errors.ts';

type Failed = Extract<CloseRunInput['ending'], { status: 'failed' }>;

/** What a rejected activity means for the run. Classes do not survive the boundary, so it goes by the `type` string. */
export function endingOf(error: unknown): Failed {
  const cause = error instanceof ActivityFailure ? error.cause : error;
  if (cause instanceof ApplicationFailure) {
    return { status: 'failed', error: codeOf(cause.type), message: cause.message.slice(0, 500) };
  }
  if (cause instanceof TimeoutFailure) {
    return {
      status: 'failed',
      error: 'ProviderFailed',
      message: 'the model call did not succeed within its time limits',
    };
  }
  return {
    status: 'failed',
    error: 'Internal',
    message: cause instanceof Error ? cause.message.slice(0, 500) : 'unknown failure',
  };
}

function codeOf(type: string | null | undefined): HoldfastErrorCode {
  if (type === 'provider/context_overflow') return 'ContextUnfittable';
  if (type?.startsWith('provider/') === true) return 'ProviderFailed';
  return type !== null && type !== undefined && isHoldfastErrorCode(type) ? type : 'Internal';
}
