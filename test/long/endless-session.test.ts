import { DefaultLogger, Runtime } from '@temporalio/worker';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { endlessClaims } from './endless/claims.ts';
import { endlessSetup, type Outcome, outcomeOf } from './endless/endless.ts';
import { startOwnServer } from './endless/own-server.ts';
import { runSessions, type Sessions } from './endless/sessions.ts';

const STEPS = 2000;
const FACTS = 400;

let sessions: Sessions;
const outcomes = new Map<string, Outcome>();
const closing: (() => Promise<void> | void)[] = [];

beforeAll(async () => {
  Runtime.install({ logger: new DefaultLogger('ERROR') });
  const { server, close } = await startOwnServer(40_233);
  closing.push(close);
  sessions = await runSessions(endlessSetup({ server, steps: STEPS, facts: FACTS }));
  closing.unshift(() => sessions.close());
  for (const report of sessions.reports) {
    const outcome = await outcomeOf(report, sessions);
    outcomes.set(report.name, outcome);
    console.log(JSON.stringify(outcome));
  }
}, 2_400_000);
afterAll(async () => {
  for (const close of closing) await close();
});

endlessClaims((name) => {
  const outcome = outcomes.get(name);
  if (outcome === undefined) throw new Error(`${name} was not run`);
  return outcome;
});

test(`the session is as long as it says: ${STEPS} steps, ${FACTS} facts, half of them in tool output only`, () => {
  const { work } = sessions.setup;
  expect(work.facts.filter(({ place }) => place === 'output')).toHaveLength(FACTS / 2);
  for (const { requests } of sessions.reports) {
    expect(requests.filter(({ summarising, status }) => !summarising && status === 200)).toHaveLength(STEPS + 1);
  }
});
