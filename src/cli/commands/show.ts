import { sessionPages } from '../../client/session-pages.ts';
import { HoldfastError } from '../../contract/errors.ts';
import type { RequestRow, RunRow, Store } from '../../store/store.ts';
import type { TranscriptEntry } from '../../transcript/items.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { type Output, printJson, printRows } from '../output.ts';
import { itemText } from '../render/item-text.ts';
import { count, duration, price, tokens } from '../render/quantities.ts';
import { visibleLine } from '../render/visible.ts';
import type { Settings } from '../settings.ts';
import { withStore } from '../with-client.ts';

/** A session's transcript and runs, or one run with its steps. Needs no server. */
export function show(settings: Settings, named: string, output: Output | undefined): Promise<ExitCode> {
  return withStore(settings, async (store) => {
    const session = await store.session(named);
    if (session !== undefined) await showSession(store, named, output);
    else {
      const run = await store.run(named);
      if (run === undefined) throw new HoldfastError('NotFound', `no session or run is called "${named}"`);
      await showRun(store, run, output);
    }
    return EXIT.ok;
  });
}

async function showSession(store: Store, sessionId: string, output: Output | undefined): Promise<void> {
  const [runs, entries] = [await store.runs(sessionId), await allEntries(store, sessionId)];
  if (output === 'json') return printJson({ sessionId, runs, entries });
  printRows(output, entries, () => {
    const transcript = entries.map(({ seq, item }) => itemText(seq, item)).join('');
    return `${transcript}\n${runs.map(runLine).join('')}`;
  });
}

async function allEntries(store: Store, sessionId: string): Promise<readonly TranscriptEntry[]> {
  const entries: TranscriptEntry[] = [];
  for await (const page of sessionPages(store, sessionId)) entries.push(...page);
  return entries;
}

async function showRun(store: Store, run: RunRow, output: Output | undefined): Promise<void> {
  const requests = await store.requests(run.runId);
  if (output === 'json') return printJson({ ...run, requests });
  printRows(output, requests, () => {
    const lines = [
      runLine(run).trimEnd(),
      `session ${run.sessionId} · agent ${visibleLine(run.agent, 60)} · Temporal run ${run.owner}`,
      `messages ${run.messageIds.join(', ')}`,
      ...requests.map(stepLine),
    ];
    return `${lines.join('\n')}\n`;
  });
}

function runLine(run: RunRow): string {
  const took = run.completedAt === null ? 'open' : duration(Date.parse(run.completedAt) - Date.parse(run.startedAt));
  const cost = run.costUsd === null || run.costUsd === 0 ? [] : [price(run.costUsd)];
  const parts = [
    run.runId,
    run.status,
    visibleLine(run.model, 60),
    `${run.steps} steps`,
    took,
    tokens(run.usage),
    ...cost,
  ];
  return `${parts.join(' · ')}\n`;
}

function stepLine({ step, model, usage, costUsd }: RequestRow): string {
  const used = usage === null ? 'no usage' : `${count(usage.inputTokens)} in, ${count(usage.outputTokens)} out`;
  return `  step ${step} · ${visibleLine(model ?? '?', 60)} · ${used}${costUsd === null || costUsd === 0 ? '' : ` · ${price(costUsd)}`}`;
}
