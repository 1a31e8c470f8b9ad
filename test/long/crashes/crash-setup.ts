import { plantedFacts } from '../endless/facts.ts';
import type { SessionsSetup } from '../endless/sessions.ts';

const STEPS = 16;

/** A short session in a small window: some compactions, the first of which is disturbed. */
export const SETUP: Omit<SessionsSetup, 'server' | 'sessions'> = {
  work: { steps: STEPS, facts: plantedFacts(STEPS, STEPS, 11) },
  window: 6000,
  maxOutputTokens: 800,
  compaction: { keepRecentTokens: 1000 },
};
