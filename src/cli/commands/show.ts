import { allEntries } from '../../client/session-pages.ts';
import { HoldfastError } from '../../contract/errors.ts';
import type { CheckpointRow } from '../../store/compaction-port.ts';
import type { RequestRow, RunRow, Store } from '../../store/store.ts';
import type { ToolResult, TranscriptEntry } from '../../transcript/items.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { type Output, printJson, printRows } from '../output.ts';
import { budgetLine } from '../render/budget-line.ts';
import { itemText } from '../render/item-text.ts';
import { count, duration, price, tokens } from '../render/quantities.ts';
import { visible, visibleLine } from '../render/visible.ts';
import { subagentsOf, treeText } from '../session-tree.ts';
import type { Settings } from '../settings.ts';
import { withStore } from '../with-client.ts';

export interface ShowOptions {
  /** Tool outputs whole, and the summaries at their places. */
  readonly all: boolean;
}

/** A session's transcript and runs, or one run with its steps. Needs no server. */
export function show(
  settings: Settings,
  named: string,
  output: Output | undefined,
  { all }: ShowOptions,
): Promise<ExitCode> {
  return withStore(settings, async (store) => {
    const session = await store.session(named);
    if (session !== undefined) await (all ? showWhole : showSession)(store, named, output);
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
  const subagents = await subagentsOf(store, sessionId);
  if (output === 'json') return printJson({ sessionId, runs, entries, subagents });
  printRows(output, entries, () => {
    const transcript = entries.map(({ seq, item }) => itemText(seq, item)).join('');
    return `${transcript}\n${runs.map(runLine).join('')}${treeText(runs, subagents)}`;
  });
}

/** Everything that the session holds: what summaries replaced too, each summary before the first item that it left. */
async function showWhole(store: Store, sessionId: string, output: Output | undefined): Promise<void> {
  const runs = await store.runs(sessionId);
  const entries = await wholeOutputs(store, sessionId, await allEntries(store, sessionId));
  const checkpoints = await store.checkpoints(sessionId);
  const subagents = await subagentsOf(store, sessionId);
  if (output === 'json') return printJson({ sessionId, runs, entries, checkpoints, subagents });
  printRows(output, entries, () => {
    let waiting = checkpoints;
    const texts = entries.map(({ seq, item }) => {
      const due = waiting.filter(({ firstKeptSeq }) => firstKeptSeq <= seq);
      waiting = waiting.filter(({ firstKeptSeq }) => firstKeptSeq > seq);
      return `${due.map(summaryText).join('')}${itemText(seq, item, { whole: true })}`;
    });
    return `${texts.join('')}${waiting.map(summaryText).join('')}\n${runs.map(runLine).join('')}${treeText(runs, subagents)}`;
  });
}

/** Entries in which each cut output is as long as it was. */
async function wholeOutputs(
  store: Store,
  sessionId: string,
  entries: readonly TranscriptEntry[],
): Promise<readonly TranscriptEntry[]> {
  const whole = async (result: ToolResult): Promise<ToolResult> => {
    if (result.fullOutput === undefined) return result;
    const range = { start: 0, end: Number.MAX_SAFE_INTEGER };
    const output = await store.toolOutput(sessionId, result.callId, range);
    if (output === undefined) return result;
    const media = result.content.filter(({ type }) => type !== 'text');
    return { ...result, content: [{ type: 'text', text: output.text }, ...media] };
  };
  return Promise.all(
    entries.map(async (entry) =>
      entry.item.kind === 'tool_result_batch'
        ? { ...entry, item: { ...entry.item, results: await Promise.all(entry.item.results.map(whole)) } }
        : entry,
    ),
  );
}

function summaryText({ compactionId, firstKeptSeq, summary }: CheckpointRow): string {
  const text = visible(summary).trimEnd().replaceAll('\n', '\n    ');
  return `summary of what stands before #${firstKeptSeq} (compaction ${visibleLine(compactionId, 40)})\n    ${text}\n`;
}

async function showRun(store: Store, run: RunRow, output: Output | undefined): Promise<void> {
  const requests = await store.requests(run.runId);
  const budgets = await store.budgets(run.runId);
  if (output === 'json') return printJson({ ...run, requests, budgets });
  printRows(output, requests, () => {
    const lines = [
      runLine(run).trimEnd(),
      `session ${run.sessionId} · agent ${visibleLine(run.agent, 60)} · Temporal run ${run.owner}`,
      `messages ${run.messageIds.join(', ')}`,
      ...budgets.map((use) => budgetLine(use).trimEnd()),
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
