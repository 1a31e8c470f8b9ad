import type { WindowBudget } from '../transcript/budget.ts';
import type { CompactionTrigger } from '../transcript/events.ts';
import type { View } from '../transcript/view.ts';
import type { CompactionConfig } from './config.ts';
import type { EarlyDecision } from './early-pass.ts';

/** What decides when a transcript is compacted. */
export type TranscriptPolicy = Pick<CompactionConfig, 'enabled' | 'autoEnabled' | 'maxHistoryTurns'>;

/** Compactions in a row without progress after which the automatic ones stop for the user message at hand. */
export const MAX_IDLE_COMPACTIONS = 2;

export interface NeedInput {
  readonly policy: TranscriptPolicy;
  /** Estimate of the next request, system prompt and tools included, corrected. */
  readonly tokens: number;
  readonly window: WindowBudget;
  /** Whether the request is the first of its run. */
  readonly firstCall: boolean;
  /** Compactions of this user message in a row that reclaimed less than a tenth. */
  readonly idleCompactions: number;
  /** User turns that the view shows word for word; needed only where the policy limits them. */
  readonly turns?: number;
  /** Window of the model that the session's last request went to, where that was another model. */
  readonly previousWindow?: number;
  /** What {@link decideEarlyPass} said; absent where prices are not known, which lets the ratio decide. */
  readonly early?: EarlyDecision;
}

export interface CompactionNeed {
  readonly trigger: CompactionTrigger;
  /** One line for people. */
  readonly reason: string;
}

/**
 * Whether the next request must be preceded by a compaction that nobody asked for.
 *
 * Above the hard threshold always; above the soft one before a run's first call, when it pays or when no price is known.
 * A model with a smaller window than the last one's is a reason of its own, since the old prefix is in no cache of it.
 */
export function compactionNeed(input: NeedInput): CompactionNeed | undefined {
  const { policy, window, tokens } = input;
  if (!policy.enabled || !policy.autoEnabled || input.idleCompactions >= MAX_IDLE_COMPACTIONS) return undefined;
  const size = `${tokens} of ${window.window} tokens`;
  if (input.previousWindow !== undefined && window.window < input.previousWindow && tokens > window.softThreshold) {
    return { trigger: 'model_downshift', reason: `${size}; the last model had a window of ${input.previousWindow}` };
  }
  if (tokens > window.hardThreshold) {
    const trigger = input.firstCall ? 'pre_turn' : 'mid_loop';
    return { trigger, reason: `${size}, more than the hard threshold of ${window.hardThreshold}` };
  }
  if (!input.firstCall) return undefined;
  const { maxHistoryTurns } = policy;
  if (maxHistoryTurns !== null && (input.turns ?? 0) > maxHistoryTurns) {
    return { trigger: 'pre_turn', reason: `${input.turns} turns, more than the ${maxHistoryTurns} to be kept` };
  }
  if (tokens <= window.softThreshold || input.early?.pays === false) return undefined;
  const why = input.early === undefined ? '' : `; ${input.early.reason}`;
  return { trigger: 'pre_turn', reason: `${size}, more than the soft threshold of ${window.softThreshold}${why}` };
}

/** Turns that stay when `maxHistoryTurns` is passed: half of them, so that not every further turn is a compaction. */
export function turnsToKeep(maxHistoryTurns: number): number {
  return Math.max(1, Math.floor(maxHistoryTurns / 2));
}

/** Turns of the user that a view shows word for word. */
export function turnsOf(view: View): number {
  return view.parts.filter(
    ({ item, state }) => state === 'kept' && item.kind === 'user_message' && item.origin === 'user',
  ).length;
}

/** Whether a compaction reclaimed at least a tenth. */
export function reclaimed(tokensBefore: number, tokensAfter: number): boolean {
  return tokensBefore > 0 && tokensBefore - tokensAfter >= tokensBefore / 10;
}
