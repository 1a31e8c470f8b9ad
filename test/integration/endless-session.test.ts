import { afterAll, beforeAll, inject } from 'vitest';
import { endlessClaims } from '../long/endless/claims.ts';
import { endlessSetup, type Outcome, outcomeOf } from '../long/endless/endless.ts';
import { runSessions, type Sessions } from '../long/endless/sessions.ts';
import { claimNamespace } from '../setup/claim-namespace.ts';
import { quietRuntime } from './harness.ts';

/** The session of the long run, shorter. */
const STEPS = 70;
const FACTS = 20;

let sessions: Sessions;
const outcomes = new Map<string, Outcome>();

beforeAll(async () => {
  quietRuntime();
  const { address, bundlePath, claims } = inject('temporal');
  const server = { address, namespace: claimNamespace(claims), workflows: { bundlePath } };
  sessions = await runSessions(endlessSetup({ server, steps: STEPS, facts: FACTS }));
  for (const report of sessions.reports) outcomes.set(report.name, await outcomeOf(report, sessions));
}, 600_000);
afterAll(() => sessions.close());

endlessClaims((name) => {
  const outcome = outcomes.get(name);
  if (outcome === undefined) throw new Error(`${name} was not run`);
  return outcome;
});
