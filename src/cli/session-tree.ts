import type { RunRow, SessionRow, Store } from '../store/store.ts';
import type { Usage } from '../transcript/message.ts';
import { price, tokens } from './render/quantities.ts';
import { visibleLine } from './render/visible.ts';

/** What models took, and what it cost; `null` where a price is not known. */
export interface Spent {
  readonly usage: Usage;
  readonly costUsd: number | null;
}

/** A subagent's session with those below it. */
export interface SubagentNode extends Spent {
  readonly sessionId: string;
  /** Of its last run. */
  readonly agent: string;
  readonly status: string;
  /** First line of its task. */
  readonly title: string;
  readonly subagents: readonly SubagentNode[];
}

const PAGE = 500;

/** The subagents below a session, each level in the order in which they began. */
export async function subagentsOf(store: Store, sessionId: string): Promise<readonly SubagentNode[]> {
  const rows: SessionRow[] = [];
  for (;;) {
    const last = rows.at(-1);
    const before = last === undefined ? {} : { before: `${last.updatedAt} ${last.sessionId}` };
    const page = await store.sessions({ limit: PAGE, under: sessionId, ...before });
    rows.push(...page);
    if (page.length < PAGE) break;
  }
  const oldestFirst = rows.toSorted((a, b) => (a.createdAt < b.createdAt ? -1 : a.createdAt > b.createdAt ? 1 : 0));
  const nodes = await Promise.all(oldestFirst.map(async (row) => ({ row, runs: await store.runs(row.sessionId) })));
  return below(sessionId, nodes);
}

type Node = { readonly row: SessionRow; readonly runs: readonly RunRow[] };

function below(parent: string, all: readonly Node[]): readonly SubagentNode[] {
  return all
    .filter(({ row }) => row.sessionId.slice(0, row.sessionId.lastIndexOf('/sub/')) === parent)
    .map(({ row, runs }) => ({
      sessionId: row.sessionId,
      agent: runs.at(-1)?.agent ?? '?',
      status: row.lastStatus ?? '?',
      title: row.title,
      ...spentBy(runs),
      subagents: below(row.sessionId, all),
    }));
}

const NOTHING: Spent = {
  usage: { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 },
  costUsd: 0,
};

/** What several runs took together. */
export function spentBy(parts: readonly Spent[]): Spent {
  return parts.reduce(
    (sum, { usage, costUsd }) => ({
      usage: {
        inputTokens: sum.usage.inputTokens + usage.inputTokens,
        outputTokens: sum.usage.outputTokens + usage.outputTokens,
        cacheReadTokens: sum.usage.cacheReadTokens + usage.cacheReadTokens,
        cacheWriteTokens: sum.usage.cacheWriteTokens + usage.cacheWriteTokens,
        reasoningTokens: sum.usage.reasoningTokens + usage.reasoningTokens,
      },
      costUsd: sum.costUsd === null || costUsd === null ? null : sum.costUsd + costUsd,
    }),
    NOTHING,
  );
}

/** What a session took with all below it. */
export function spentInAll(own: readonly Spent[], subagents: readonly SubagentNode[]): Spent {
  return spentBy([...own, ...subagents.map((node) => spentInAll([node], node.subagents))]);
}

/** `1.2k tokens in, 340 out · $0.02`; a price that is not known, or nothing, is left out. */
export function spentLine({ usage, costUsd }: Spent): string {
  return [tokens(usage), ...(costUsd === null || costUsd === 0 ? [] : [price(costUsd)])].join(' · ');
}

/** The tree as indented lines and, below it, what everything took together; empty without subagents. */
export function treeText(own: readonly Spent[], subagents: readonly SubagentNode[]): string {
  if (subagents.length === 0) return '';
  return `\nsubagents\n${nodeLines(subagents, '  ')}with subagents · ${spentLine(spentInAll(own, subagents))}\n`;
}

function nodeLines(nodes: readonly SubagentNode[], indent: string): string {
  return nodes
    .map((node) => {
      const parts = [visibleLine(node.agent, 60), node.status, spentLine(node), visibleLine(node.title, 60)];
      const lines = `${indent}${parts.join(' · ')}\n${indent}  ${node.sessionId}\n`;
      return `${lines}${nodeLines(node.subagents, `${indent}  `)}`;
    })
    .join('');
}
