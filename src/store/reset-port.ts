import type { ToolResultStatus } from '../transcript/items.ts';
import type { JsonObject } from '../transcript/json.ts';

/**
 * Where a Temporal execution that came of a reset goes on. Its first write supersedes what the executions before
 * committed later; what the workflow's head names, and what is before it, stays.
 */
export interface ResetPoint {
  /** The last step whose answer the workflow knows; -1: none. */
  readonly answered: number;
  /** The last compaction whose end the workflow knows, where it came after that answer. */
  readonly afterCompaction?: string;
}

/** What a call did in a branch that a reset left behind. */
export interface BranchEffect {
  readonly callId: string;
  readonly name: string;
  readonly arguments: JsonObject;
  /** Absent: it began, and nobody knows how it ended. */
  readonly status?: ToolResultStatus;
  /** What it returned, as the model was or would have been shown it. */
  readonly text: string;
}

/** What a session whose run is reset needs of a store. */
export interface ResetStore {
  /**
   * Calls with effects that ran in a branch which `owner` supersedes or will supersede with its first write after
   * `head`, or which an earlier reset superseded, and of which no live item tells the model.
   */
  branchEffects(
    sessionId: string,
    at: { readonly head: number; readonly owner: string },
  ): Promise<readonly BranchEffect[]>;
}
