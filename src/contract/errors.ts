/** Names of everything that ends a run or refuses a command. */
export type HoldfastErrorCode =
  | 'InvalidInput'
  | 'SessionBusy'
  | 'RunClosing'
  | 'InboxFull'
  | 'SessionLockMismatch'
  | 'StoreMismatch'
  | 'StoreBehind'
  | 'StoreTooNew'
  | 'StoreUnavailable'
  | 'Fenced'
  | 'NotFound'
  | 'UnknownAgent'
  | 'UnknownModel'
  | 'MissingKey'
  | 'MaxToolTurns'
  | 'ToolLoop'
  | 'BudgetExceeded'
  | 'ContextUnfittable'
  | 'CompactionFailed'
  | 'InvalidOutput'
  | 'ProviderFailed'
  | 'TemporalUnavailable'
  | 'NoWorker'
  | 'RunAbandoned'
  | 'ConfigInvalid'
  | 'Internal';

/**
 * Errors that end a run or refuse a command: a closed list. Each has one sentence of advice; the message says what
 * happened. The name travels as the `type` of Temporal failures and in `run_failed` events.
 */
export const ERROR_HINTS: Readonly<Record<HoldfastErrorCode, string>> = {
  InvalidInput: 'Correct the input and try again; nothing was started.',
  SessionBusy: 'Wait for the run, `holdfast send` to queue behind it, or `holdfast cancel` it.',
  RunClosing: 'The run is just ending; send again in a moment (the client library does this by itself).',
  InboxFull: 'Wait until the run has taken in some of the queued messages, then send again.',
  SessionLockMismatch: 'Start the workflow with the id session/<sessionId>; that id is the lock of the session.',
  StoreMismatch:
    'Point HOLDFAST_STORE at the store this run was started with, or use another store for this namespace.',
  StoreBehind:
    'The store is older than the run (restored from a backup?): restore a newer copy, or cancel the run and send again.',
  StoreTooNew: 'Upgrade holdfast, or open the store with the release that wrote it.',
  StoreUnavailable:
    'Check that the store exists, is writable and that the disk has room; the run waits and goes on by itself.',
  Fenced: 'Another worker has taken over; nothing is lost and nothing needs doing.',
  NotFound: 'List what there is with `holdfast sessions`.',
  UnknownAgent: 'Use one of the agents in holdfast.config.ts.',
  UnknownModel: 'Write models as provider/model; `holdfast doctor` lists the providers that are set up.',
  MissingKey: 'Set the key in the environment, or choose another model with HOLDFAST_MODEL.',
  MaxToolTurns: 'Raise maxToolTurns of the agent, or ask for less in one message.',
  ToolLoop: 'The model repeated the same call with the same result; rephrase the task or mend the tool.',
  BudgetExceeded: 'Raise the budgets of the agent, or let it ask (onBudget) and use `holdfast extend`.',
  ContextUnfittable: 'Shorten the system prompt or the tools, or use a model with a larger window.',
  CompactionFailed: 'History is as it was; try again, or set context.compaction.model to another model for summaries.',
  InvalidOutput: 'The answer did not fit the output schema twice; loosen the schema or use another model.',
  ProviderFailed: 'See the message of the provider; the session goes on with the next message.',
  TemporalUnavailable: 'Start it with `npx holdfast dev`, or set TEMPORAL_ADDRESS.',
  NoWorker: 'Start one with `npx holdfast worker` (or `npx holdfast dev`, which starts the server too).',
  RunAbandoned: 'Its workflow was terminated or is gone; the next message of the session marks it and goes on.',
  ConfigInvalid: 'Correct holdfast.config.ts.',
  Internal: 'This is a bug in holdfast; please report it with the output of --debug.',
};

export function isHoldfastErrorCode(code: string): code is HoldfastErrorCode {
  return Object.hasOwn(ERROR_HINTS, code);
}

/** A refusal or failure with a name from the closed list and one sentence of advice. */
export class HoldfastError extends Error {
  override readonly name = 'HoldfastError';
  readonly code: HoldfastErrorCode;
  readonly hint: string;

  constructor(
    code: HoldfastErrorCode,
    message: string,
    options: { readonly cause?: unknown; readonly hint?: string } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.hint = options.hint ?? ERROR_HINTS[code];
  }
}
