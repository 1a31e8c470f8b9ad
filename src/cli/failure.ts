import { HoldfastError, isHoldfastErrorCode } from '../contract/errors.ts';
import { DevServerError } from '../devserver/errors.ts';
import { StoreError } from '../store/errors.ts';
import { EXIT, EXIT_OF_ERROR, type ExitCode } from './exit-codes.ts';
import { visible } from './render/visible.ts';

/** An error as a person is told it: one sentence, and what to do about it. */
export interface Failure {
  /** From the closed list, or of the dev server; `null` for anything unforeseen. */
  readonly code: string | null;
  readonly message: string;
  readonly hint: string;
  readonly exitCode: ExitCode;
}

export function failureOf(error: unknown): Failure {
  if (error instanceof HoldfastError) return { ...told(error), exitCode: EXIT_OF_ERROR[error.code] };
  if (error instanceof StoreError) {
    return { ...told(error), exitCode: isHoldfastErrorCode(error.code) ? EXIT_OF_ERROR[error.code] : EXIT.internal };
  }
  if (error instanceof DevServerError) return { ...told(error), exitCode: EXIT.unavailable };
  return {
    code: null,
    message: error instanceof Error ? error.message : String(error),
    hint: 'This is not an error that holdfast foresees; --debug shows where it comes from.',
    exitCode: EXIT.internal,
  };
}

function told(error: HoldfastError | StoreError | DevServerError): Pick<Failure, 'code' | 'message' | 'hint'> {
  return { code: error.code, message: error.message, hint: error.hint };
}

/** The failure as text for stderr; the stack only where it was asked for. */
export function failureText(error: unknown, debug: boolean): string {
  const { message, hint } = failureOf(error);
  const sentence = visible(message).trim();
  const stack = debug && error instanceof Error ? `\n${visible(stackOf(error))}` : '';
  return `Error: ${sentence}${/[.!?]$/.test(sentence) ? '' : '.'}\n${visible(hint).trim()}${stack}\n`;
}

function stackOf(error: Error): string {
  const own = error.stack ?? String(error);
  return error.cause instanceof Error ? `${own}\ncaused by ${stackOf(error.cause)}` : own;
}
