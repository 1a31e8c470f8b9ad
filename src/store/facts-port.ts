import type { JsonObject } from '../transcript/json.ts';

/** `session`: this conversation's. `workspace`: all sessions' of the store. */
export type FactScope = 'session' | 'workspace';

/**
 * `memory`: a sentence worth keeping. The others make up the artifact ledger: files, commands and URLs of tool calls, and
 * other exact names and numbers that were said.
 */
export type FactKind = 'memory' | 'file' | 'command' | 'url' | 'identifier';

/** `quarantined`: comes from tool output only; kept and listed, never put into a prompt until somebody allows it. */
export type FactStatus = 'active' | 'quarantined' | 'forgotten';

/** Characters of a memory: it stands in every later prompt. */
export const MAX_MEMORY_CHARS = 500;

export interface NewFact {
  /** The same for the same scope, session (where scoped to it), kind and normalised text: see `factId`. */
  readonly factId: string;
  readonly scope: FactScope;
  readonly kind: FactKind;
  readonly text: string;
  readonly status: FactStatus;
  /** Item that it comes from. */
  readonly sourceSeq: number | null;
  /** Provenance: origin (`user`, `assistant`, `tool`), tool name, call id, compaction. */
  readonly source: JsonObject;
}

export interface FactRow extends NewFact {
  readonly sessionId: string | null;
  /** ISO 8601 UTC. */
  readonly createdAt: string;
  readonly updatedAt: string;
}

export interface FactQuery {
  /** Facts of this session and of the workspace; absent: of the workspace only, unless `scope` says otherwise. */
  readonly sessionId?: string;
  readonly scope?: FactScope;
  readonly kinds?: readonly FactKind[];
  readonly statuses?: readonly FactStatus[];
  /** All of these words, case folded. */
  readonly words?: string;
  readonly limit?: number;
}

/** Memories and the artifact ledger. */
export interface FactStore {
  /**
   * Adds facts; one that is there keeps its status, except that an `active` one from a person or a rule frees a
   * quarantined one. Returns those as stored.
   */
  putFacts(sessionId: string, facts: readonly NewFact[]): Promise<readonly FactRow[]>;
  /** Newest first. */
  facts(query: FactQuery): Promise<readonly FactRow[]>;
  /** `undefined` when there is no such fact. Ids may be given by a prefix that is unique. */
  setFactStatus(factId: string, status: FactStatus): Promise<FactRow | undefined>;
}
