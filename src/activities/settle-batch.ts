import type { Activities } from '../contract/activities.ts';
import type { ActivityDeps } from './agents.ts';
import { translated } from './failure.ts';
import { currentWriter, runRef } from './writer.ts';

export function createSettleBatch(deps: ActivityDeps): Activities['settleBatch'] {
  return (input) =>
    translated(() =>
      deps.store.settleBatch(currentWriter(input.ref.sessionId), {
        ref: runRef(input.ref, { answered: input.step }),
        step: input.step,
        settlement: input.failures ?? {},
      }),
    );
}
