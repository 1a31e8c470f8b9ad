import { describe, expect, test } from 'vitest';
import type { Outcome } from './endless.ts';

/** Share of the facts that must stand in the requests, by the summariser. */
const RECALL: Readonly<Record<string, number>> = { faithful: 1, forgetful: 0.95, silent: 0 };

/** The tests of endless sessions, whatever their length. */
export function endlessClaims(outcomeNamed: (name: string) => Outcome): void {
  describe.each(Object.entries(RECALL))('an endless session whose model summarises like this: %s', (name, recall) => {
    test('reads to the end; every request is legal and fits the window', () => {
      expect(outcomeNamed(name)).toMatchObject({ ended: 'All parts are read.', overflowed: 0, malformed: 0 });
      expect(outcomeNamed(name).summaries).toBeGreaterThan(0);
    });

    test(`has at least ${recall} of the facts in the request that asks for them, and finds all by search`, () => {
      expect(outcomeNamed(name).recall).toBeGreaterThanOrEqual(recall);
      expect(outcomeNamed(name).notFound).toEqual([]);
    });

    test('has summaries of an even size, and an estimate of each request within 15 %', () => {
      const { growth, summaryTokens, worstEstimate } = outcomeNamed(name);
      if (summaryTokens.length > 5) expect(growth).toBeLessThanOrEqual(1.5);
      expect(Math.max(...summaryTokens)).toBeLessThan(3500);
      expect(worstEstimate).toBeLessThanOrEqual(0.15);
    });

    test('goes on in new executions of its workflow', () => {
      expect(outcomeNamed(name).continuedAsNew).toBeGreaterThan(0);
    });
  });
}
