import { plantedFacts } from '../endless/facts.ts';
import type { SessionsSetup } from '../endless/sessions.ts';

const STEPS = 20;

/** A short session in a small window: some compactions, the first of which is disturbed. */
export const SETUP: Omit<SessionsSetup, 'server' | 'sessions'> = {
  work: { steps: STEPS, facts: plantedFacts(STEPS, STEPS, 11) },
  window: 6000,
  maxOutputTokens: 800,
  // Results are not pruned, so that each compaction writes a summary.
  compaction: { keepRecentTokens: 1000, keepRecentMessages: 1000 },
};
