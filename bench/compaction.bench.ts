import { DefaultLogger, Runtime } from '@temporalio/worker';
import { inputCost, inputTokens } from '../test/fakes/caching-provider.ts';
import { cachedShare, cacheSetup, perStepPruning, rideSetup } from '../test/long/endless/cache-costs.ts';
import { endlessSetup, type Outcome, outcomeOf } from '../test/long/endless/endless.ts';
import { startOwnServer } from '../test/long/endless/own-server.ts';
import { runSessions, type ServerRef, type SessionReport } from '../test/long/endless/sessions.ts';
import { type BenchRow, rowOf } from './row.ts';

const STEPS = 2000;
const FACTS = 400;
const CACHED_STEPS = 200;

/** What compaction keeps of a session without an end, and what it costs where cached prefixes are billed as the vendors do. */
export async function* run(): AsyncIterable<BenchRow> {
  Runtime.install({ logger: new DefaultLogger('ERROR') });
  const { server, close } = await startOwnServer(29_233);
  try {
    yield* cacheRows(server);
    yield* recallRows(server);
  } finally {
    await close();
  }
}

async function* recallRows(server: ServerRef): AsyncIterable<BenchRow> {
  const sessions = await runSessions(endlessSetup({ server, steps: STEPS, facts: FACTS }));
  try {
    const outcomes: Outcome[] = [];
    for (const report of sessions.reports) outcomes.push(await outcomeOf(report, sessions));
    for (const { name, recall } of outcomes) yield rowOf(`recall_${name}_summariser`, 'share', [recall]);
    yield rowOf(
      'summary_growth_ratio',
      'ratio',
      outcomes.map(({ growth }) => growth),
      Math.max(...outcomes.map(({ growth }) => growth)),
    );
    const worst = outcomes.map(({ worstEstimate }) => worstEstimate);
    yield rowOf('estimate_worst_error', 'share', worst, Math.max(...worst));
  } finally {
    await sessions.close();
  }
}

async function* cacheRows(server: ServerRef): AsyncIterable<BenchRow> {
  const pruned = await runSessions(cacheSetup(server, CACHED_STEPS));
  try {
    const [report] = pruned.reports;
    if (report === undefined) throw new TypeError('no session was run');
    const each = await perStepPruning(pruned, report);
    yield rowOf('cached_input_share', 'share', [cachedShare(billsOf(report))]);
    yield rowOf('cached_input_share_per_step_pruning', 'share', [cachedShare(each)]);
    yield rowOf('maintenance_passes', 'passes', [(await pruned.store.compactionResults(report.name)).length]);
    const costs = [billsOf(report), each].map((bills) => bills.reduce((sum, bill) => sum + inputCost(bill), 0));
    yield rowOf('input_cost_vs_per_step_pruning', 'ratio', [(costs[0] ?? Number.NaN) / (costs[1] ?? Number.NaN)]);
  } finally {
    await pruned.close();
  }
  const riding = await runSessions(rideSetup(server, CACHED_STEPS));
  try {
    const rides = riding.reports.flatMap(({ requests }) => requests).filter(({ rides }) => rides);
    const shares = rides.flatMap(({ bill }) => (bill === undefined ? [] : [bill.read / inputTokens(bill)]));
    yield rowOf('ride_cached_share', 'share', shares);
  } finally {
    await riding.close();
  }
}

function billsOf({ requests }: SessionReport) {
  return requests.flatMap(({ bill }) => bill ?? []);
}
