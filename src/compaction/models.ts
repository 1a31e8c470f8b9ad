import type { CompactionTrigger } from '../transcript/events.ts';

/**
 * How a summary was made. `ride`: the agent's own next request plus one message, so that the provider's cache pays for
 * most of it. `rendered`: a request of its own without tools, the transcript as text. `extractive`: without a model.
 */
export type SummaryMode = 'ride' | 'rendered' | 'extractive';

/**
 * What a compaction is going to do: the outcome of its first phase, stored so that a later attempt does the same.
 *
 * - 1: first version.
 */
export interface CompactionPlan {
  readonly schemaVersion: 1;
  readonly trigger: CompactionTrigger;
  readonly reason: string;
  /** `nothing`: there is nothing to replace. `edits`: view edits alone made it fit. `cut`: a summary replaces a prefix. */
  readonly kind: 'nothing' | 'edits' | 'cut';
  /** Revision of the view that the plan was made from: what the provider's cache may hold. */
  readonly baseRevision: string;
  /** Revision of the view that the plan leaves behind: with its edits, before the checkpoint. */
  readonly viewRevision: string;
  /** Last seq that the plan has seen. */
  readonly head: number;
  /** Estimated tokens of the next request (system prompt and tools included), before, and after the plan's edits. */
  readonly tokensBefore: number;
  readonly tokensAfterEdits: number;
  /** Correction that these figures were multiplied by. */
  readonly factor: number;
  /** Whether the next request fits without a summary: then a summary that fails is better left out than made without a model. */
  readonly optional: boolean;
  /** How many results, texts and media the plan's edits shortened. */
  readonly edits: number;
  readonly cut: PlannedCut | null;
}

/** Which prefix a summary replaces. */
export interface PlannedCut {
  readonly firstKeptSeq: number;
  readonly protectedSeqs: readonly number[];
  /** First and last seq of what is replaced; both inclusive. */
  readonly fromSeq: number;
  readonly toSeq: number;
  readonly droppedItems: number;
  readonly droppedTokens: number;
  /** Tokens of the dropped items and of the earlier summary, uncorrected. */
  readonly replacedTokens: number;
  /** Of the replaced prefix as the store has it, see `Store.sourceHash`. */
  readonly sourceHash: string;
  /** Compaction that the summary goes on from. */
  readonly previous: string | null;
  /** Most tokens that the new summary, with everything appended to it, may take. */
  readonly summaryTokens: number;
}

/** A summary with its scores: the outcome of the `summary` phase. */
export interface CompactionSummaryDraft {
  readonly schemaVersion: 1;
  /** What the view will show, ledger and identifiers included. */
  readonly text: string;
  readonly mode: SummaryMode;
  /** `provider/model` that wrote it; absent when no model did. */
  readonly model?: string;
  readonly quality: SummaryQuality;
  /** Model calls that were made for it. */
  readonly calls: number;
}

/** What the gate measured; stored with the checkpoint. */
export interface SummaryQuality {
  readonly passed: boolean;
  /** What the first answer failed on, in words; empty when it passed at once. */
  readonly problems: readonly string[];
  readonly tokens: number;
  readonly limitTokens: number;
  readonly replacedTokens: number;
  readonly missingHeadings: readonly string[];
  /** Share of the required identifiers that the model's own text held, 0 to 1. */
  readonly identifierRecall: number;
  readonly identifiersRequired: number;
  /** Identifiers put back from the ledger. */
  readonly identifiersRestored: number;
  readonly reasked: boolean;
}

/** A committed compaction. */
export type { CheckpointRow as CompactionCheckpoint } from '../store/compaction-port.ts';

/** How a compaction ended: the outcome of its last phase, and what whoever asked for it is told. */
export interface CompactionResult {
  readonly schemaVersion: 1;
  readonly compactionId: string;
  readonly trigger: CompactionTrigger;
  /**
   * `compacted`: a checkpoint was committed. `edited`: view edits were enough. `nothing`: there was nothing to replace.
   * `failed`, `cancelled`: history is as it was. `stale`: another compaction came first.
   */
  readonly outcome: 'compacted' | 'edited' | 'nothing' | 'failed' | 'cancelled' | 'stale';
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  /** Whether at least a tenth was reclaimed. */
  readonly progress: boolean;
  readonly mode?: SummaryMode;
  readonly model?: string;
  readonly costUsd?: number | null;
  /** Why it failed. */
  readonly error?: string;
  readonly message?: string;
  /** Ids of the manual requests that it answers. */
  readonly requests: readonly string[];
  /** What was replaced, where a checkpoint was committed. */
  readonly cut?: Pick<PlannedCut, 'fromSeq' | 'toSeq' | 'droppedItems' | 'droppedTokens' | 'protectedSeqs'>;
  /** Results, texts and media that were shortened. */
  readonly edits?: number;
  readonly quality?: SummaryQuality;
}
