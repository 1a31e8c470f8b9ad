import type { HoldfastClient } from '../../client/holdfast-client.ts';
import type { AgentEvent, CompactionTrigger } from '../../transcript/events.ts';
import { isJsonObject } from '../../transcript/json.ts';
import { count, price } from './quantities.ts';
import { visibleLine } from './visible.ts';

/** How a compaction ended, as the store keeps it. */
export type CompactionResult = Awaited<ReturnType<HoldfastClient['compact']>>;

/** A compaction as the store tells of it: how it ended, what it cost, and what it left when it was committed. */
export interface ShownCompaction extends CompactionResult {
  readonly runId: string;
  /** When it ended, ISO 8601 UTC. */
  readonly at: string;
  readonly reason: string | null;
  /** Model calls that were made for it, and what all of them cost; `null` when a price is unknown. */
  readonly calls: number;
  readonly spentUsd: number | null;
  /** Tokens that the calls used. */
  readonly inputTokens: number;
  readonly cachedTokens: number;
  readonly outputTokens: number;
  readonly firstKeptSeq: number | null;
  readonly summary: string | null;
}

/** Why a compaction happened, for people. */
export const TRIGGERS: Readonly<Record<CompactionTrigger, string>> = {
  manual: 'asked for',
  pre_turn: 'before the turn',
  mid_loop: 'within the turn',
  overflow_retry: 'the request did not fit',
  model_downshift: 'the next model has a smaller window',
};

/** `compacted 12.4k → 3.1k tokens · ride · gate 0.97`. */
export function compacted({
  tokensBefore,
  tokensAfter,
  detail,
}: Extract<AgentEvent, { type: 'compaction_completed' }>): string {
  if (detail.outcome === 'nothing') return 'nothing to compact';
  const { mode, costUsd } = detail;
  const what = detail.outcome === 'edited' ? 'shortened old output:' : 'compacted';
  const recall = gateOf(detail.quality);
  return [
    `${what} ${count(tokensBefore)} → ${count(tokensAfter)} tokens`,
    ...(typeof mode === 'string' ? [visibleLine(mode, 20)] : []),
    ...(recall === undefined ? [] : [`gate ${recall}`]),
    ...(typeof costUsd === 'number' && costUsd > 0 ? [price(costUsd)] : []),
  ].join(' · ');
}

/** Share of the exact names that the summary held, and whether the gate let it through at all. */
export function gateOf(quality: unknown): string | undefined {
  if (!isJsonObject(quality) || typeof quality.identifierRecall !== 'number') return undefined;
  return `${quality.identifierRecall.toFixed(2)}${quality.passed === false ? ' (not passed)' : ''}`;
}

/** How a compaction ended, in one line. */
export function resultLine(result: CompactionResult): string {
  const { outcome, tokensBefore, tokensAfter, mode, model, costUsd, quality, edits, message = '' } = result;
  const tokens = `${count(tokensBefore)} → ${count(tokensAfter)} tokens`;
  const by = [
    ...(mode === undefined ? [] : [mode]),
    ...(model === undefined ? [] : [visibleLine(model, 60)]),
    ...(gateOf(quality) === undefined ? [] : [`gate ${gateOf(quality)}`]),
    ...(costUsd === undefined || costUsd === null || costUsd === 0 ? [] : [price(costUsd)]),
  ];
  const why = message === '' ? '' : `: ${visibleLine(message, 200)}`;
  switch (outcome) {
    case 'compacted':
      return [`Compacted ${tokens}`, ...by].join(' · ');
    case 'edited':
      return `Shortened ${edits ?? 0} old outputs, which was enough: ${tokens}`;
    case 'nothing':
      return `Nothing to compact: ${count(tokensBefore)} tokens${why}`;
    case 'stale':
      return 'Another compaction came first; nothing was changed twice.';
    case 'failed':
      return `Compaction failed, history is as it was${why}`;
    case 'cancelled':
      return `Compaction cancelled, history is as it was${why}`;
  }
}
