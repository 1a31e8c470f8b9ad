import type { Asked } from '../../fakes/caching/asked.ts';
import { seededRandom } from '../../fakes/random.ts';
import { type Fact, holds } from './facts.ts';

/** Facts that were asked for, and those that stood in the request that was to answer. */
export interface Recall {
  readonly asked: number;
  readonly found: number;
  /** Facts that the last request did not hold. */
  readonly missingAtEnd: readonly Fact[];
}

/**
 * Asks in every request for one fact out of everything said before, and in the last one for all. A fact counts only when
 * it stands in the body of that request.
 */
export interface Grader {
  /** @param after part that the request comes after; facts of it and of earlier ones were given. */
  grade(request: Asked, after: number): void;
  recall(): Recall;
}

export function createGrader(facts: readonly Fact[], steps: number, seed: number): Grader {
  const random = seededRandom(seed);
  let asked = 0;
  let found = 0;
  let missingAtEnd: readonly Fact[] = [];
  return {
    grade(request, after) {
      const given = facts.filter(({ step }) => step <= after);
      const one = given[Math.floor(random() * given.length)];
      const wanted = after >= steps ? given : one === undefined ? [] : [one];
      const missing = wanted.filter(({ text }) => !holds(request.text, text));
      asked += wanted.length;
      found += wanted.length - missing.length;
      if (after >= steps) missingAtEnd = missing;
    },
    recall: () => ({ asked, found, missingAtEnd }),
  };
}
