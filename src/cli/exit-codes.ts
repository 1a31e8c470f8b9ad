import type { HoldfastErrorCode } from '../contract/errors.ts';

/** What the process ends with; docs/cli.md explains them. */
export const EXIT = {
  ok: 0,
  /** The run ended in a failure. */
  runFailed: 1,
  /** The command or its input is wrong; nothing was started. */
  usage: 2,
  /** Temporal, the store or a worker cannot be reached or started. */
  unavailable: 3,
  /** What is there forbids it: a busy session, no such run, a store of another release. */
  refused: 4,
  /** A bug in holdfast. */
  internal: 70,
  /** The run was cancelled, or the command was interrupted: 128 + SIGINT, as shells have it. */
  cancelled: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** A table, so that a new error does not compile until it is ruled on. */
export const EXIT_OF_ERROR: Readonly<Record<HoldfastErrorCode, ExitCode>> = {
  InvalidInput: EXIT.usage,
  UnknownAgent: EXIT.usage,
  UnknownModel: EXIT.usage,
  MissingKey: EXIT.usage,
  ConfigInvalid: EXIT.usage,
  TemporalUnavailable: EXIT.unavailable,
  StoreUnavailable: EXIT.unavailable,
  NoWorker: EXIT.unavailable,
  SessionBusy: EXIT.refused,
  RunClosing: EXIT.refused,
  InboxFull: EXIT.refused,
  SessionLockMismatch: EXIT.refused,
  StoreMismatch: EXIT.refused,
  StoreBehind: EXIT.refused,
  StoreTooNew: EXIT.refused,
  Fenced: EXIT.refused,
  NotFound: EXIT.refused,
  RunAbandoned: EXIT.runFailed,
  MaxToolTurns: EXIT.runFailed,
  ToolLoop: EXIT.runFailed,
  BudgetExceeded: EXIT.runFailed,
  ContextUnfittable: EXIT.runFailed,
  CompactionFailed: EXIT.runFailed,
  InvalidOutput: EXIT.runFailed,
  ProviderFailed: EXIT.runFailed,
  Internal: EXIT.internal,
};
