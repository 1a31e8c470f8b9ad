import type { ActivityRef, AskedCompaction } from './activities.ts';
import type { HoldfastErrorCode } from './errors.ts';
import type { CompactRequest } from './messages.ts';

/** What starts `compactSession`, always as a child of the run whose fence it carries. */
export interface CompactSessionInput {
  readonly ref: ActivityRef;
  /** Temporal run id of the parent: the owner of the session in the store. */
  readonly owner: string;
  /** Step that the compaction comes before. */
  readonly step: number;
  /** `provider/model` that the next request goes to. */
  readonly model: string;
  readonly compaction: AskedCompaction;
  /** Manual requests that it answers. */
  readonly requests: readonly CompactRequest[];
}

/** How a compaction ended, as the run needs it; the rest is in the store. */
export interface CompactionEnd {
  readonly compactionId: string;
  readonly trigger: AskedCompaction['trigger'];
  readonly outcome: 'compacted' | 'edited' | 'nothing' | 'failed' | 'cancelled' | 'stale' | 'closed';
  /** Estimated tokens of the next request, system prompt and tools included. */
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  /** Whether at least a tenth was reclaimed. */
  readonly progress: boolean;
  /** Why it failed: an error's name of the closed list, and at most 200 characters for people. */
  readonly error?: HoldfastErrorCode;
  readonly message?: string;
}

/** Outcome of the first phase. */
export type PlanCompactionOutput =
  | { readonly outcome: 'cut'; readonly label: string }
  /** Nothing more to do: the end is committed. */
  | { readonly outcome: 'ended'; readonly end: CompactionEnd };

export interface FailCompactionInput extends CompactSessionInput {
  readonly outcome: 'failed' | 'cancelled';
  readonly error: HoldfastErrorCode;
  readonly message: string;
}

/** What a worker runs for `compactSession`. Every one is idempotent on the compaction id and its phase. */
export interface CompactionActivities {
  /** Maintenance and cut: commits view edits and the plan. */
  planCompaction(input: CompactSessionInput): Promise<PlanCompactionOutput>;
  /** Durable facts out of what will be dropped. */
  flushMemory(input: CompactSessionInput): Promise<{ readonly label: string }>;
  /** Summary, gate, one corrective re-ask; falls down the ladder to an extractive summary rather than fail. */
  summarize(input: CompactSessionInput): Promise<{ readonly label: string }>;
  /** Compare-and-set of the checkpoint: the view changes here. */
  commitCheckpoint(input: CompactSessionInput): Promise<CompactionEnd>;
  /** Tells that the compaction did not succeed; history is as it was. */
  failCompaction(input: FailCompactionInput): Promise<CompactionEnd>;
}
