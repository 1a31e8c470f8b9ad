import { StoreError } from './errors.ts';

/** The writer lost the session to a later execution, or its activity to a later attempt. */
export function fenced(what: string): StoreError {
  return new StoreError('Fenced', what, 'Another worker has taken over; nothing is lost and nothing needs doing.');
}

/** The run knows of rows that the store does not have. */
export function storeBehind(sessionId: string, lastSeq: number, head: number): StoreError {
  return new StoreError(
    'StoreBehind',
    `Session ${sessionId} ends at item ${lastSeq} in this store, but its run knows item ${head}.`,
    'The store is older than the run (restored from a backup?): restore a newer copy, or cancel the run and send again.',
  );
}

export function storeMismatch(message: string): StoreError {
  return new StoreError(
    'StoreMismatch',
    message,
    'Point HOLDFAST_STORE at the store this run was started with, or use another store for this namespace.',
  );
}

/** A reset of a run that others came after: their items stand on its. */
export function notLatest(sessionId: string, runId: string): StoreError {
  const hint = 'Branch off the session with `holdfast fork` instead.';
  const what = `Run ${runId} is not the latest of session ${sessionId}, and only that one can be reset.`;
  return new StoreError('InvalidInput', `${what} ${hint}`, hint);
}

export function notFound(message: string): StoreError {
  return new StoreError('NotFound', message, 'List what there is with `holdfast sessions`.');
}

/** The caller asked for what would break an invariant: a bug on its side, and nothing was written. */
export function refused(message: string): StoreError {
  return new StoreError('Internal', message, 'This is a bug in holdfast; please report it with the output of --debug.');
}
