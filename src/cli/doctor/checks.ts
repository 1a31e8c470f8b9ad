import { failureOf } from '../failure.ts';
import { keys } from './check-keys.ts';
import { node } from './check-node.ts';
import { store } from './check-store.ts';
import { stuckRuns } from './check-stuck-runs.ts';
import { namespace, searchAttributes, server, workers } from './check-temporal.ts';
import type { Examination } from './examination.ts';

/** What a check found. `warning`: a run works, but not as it should. `skipped`: cannot be told until an earlier finding is mended. */
export interface Finding {
  readonly what: string;
  readonly verdict: 'ok' | 'warning' | 'wrong' | 'skipped';
  readonly found: string;
  /** What to do, one sentence; absent when all is well. */
  readonly mend?: string;
}

export type Check = (examination: Examination) => Promise<Finding>;

/** In the order in which one rests on the other. */
export const CHECKS: readonly Check[] = [
  node,
  keys,
  store,
  server,
  namespace,
  searchAttributes,
  workers,
  stuckRuns,
].map(({ what, check }) => contained(what, check));

/** A check that fails is a finding, too. */
function contained(what: string, check: (examination: Examination) => Promise<Omit<Finding, 'what'>>): Check {
  return async (examination) => {
    try {
      return { what, ...(await check(examination)) };
    } catch (error) {
      const { message, hint } = failureOf(error);
      return { what, verdict: 'wrong', found: message, mend: hint };
    }
  };
}
