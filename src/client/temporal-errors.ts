import {
  isGrpcServiceError,
  ServiceError,
  WorkflowExecutionAlreadyStartedError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
} from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { HoldfastError, isHoldfastErrorCode } from '../contract/errors.ts';

/** gRPC status codes that matter here (google.rpc.Code). */
const NOT_FOUND = 5;
const RESOURCE_EXHAUSTED = 8;
const UNAVAILABLE = 14;
const DEADLINE_EXCEEDED = 4;

/** What a Temporal call said, in our words; unknown errors pass through untouched. */
export function translate(error: unknown, sessionId: string): unknown {
  if (error instanceof WorkflowUpdateFailedError && error.cause instanceof ApplicationFailure) {
    const { type, message } = error.cause;
    const code = type !== null && type !== undefined && isHoldfastErrorCode(type) ? type : 'Internal';
    return new HoldfastError(code, message, { cause: error });
  }
  if (error instanceof WorkflowNotFoundError || grpcCode(error) === NOT_FOUND) {
    return new HoldfastError('NotFound', `session ${sessionId} has no open run`, { cause: error });
  }
  if (grpcCode(error) === UNAVAILABLE || grpcCode(error) === DEADLINE_EXCEEDED) {
    return new HoldfastError('TemporalUnavailable', 'the Temporal server does not answer', { cause: error });
  }
  return error;
}

export function isAlreadyStarted(error: unknown): boolean {
  return error instanceof WorkflowExecutionAlreadyStartedError;
}

/** The server asks to slow down (too many updates in flight, rate limits): the same call may be made again. */
export function isResourceExhausted(error: unknown): boolean {
  return grpcCode(error) === RESOURCE_EXHAUSTED;
}

function grpcCode(error: unknown): number | undefined {
  const cause = error instanceof ServiceError ? error.cause : error;
  return isGrpcServiceError(cause) ? cause.code : undefined;
}
