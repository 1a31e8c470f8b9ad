import type { Examination } from './examination.ts';

/** What a check found. `warning`: a run works, but not as it should. `skipped`: cannot be told until an earlier finding is mended. */
export interface Finding {
  readonly what: string;
  readonly verdict: 'ok' | 'warning' | 'wrong' | 'skipped';
  readonly found: string;
  /** What to do, one sentence; absent when all is well. */
  readonly mend?: string;
}

export type Found = Omit<Finding, 'what'>;

/** Looks at one thing. May reject: that is a finding, too. */
export interface Check {
  readonly what: string;
  readonly look: (examination: Examination) => Promise<Found>;
}
