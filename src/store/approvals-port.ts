/** A call that waits for somebody's approval. Times are ISO 8601 UTC. */
export interface OpenApproval {
  readonly sessionId: string;
  readonly runId: string;
  readonly step: number;
  readonly callId: string;
  readonly name: string;
  /** One line for people. */
  readonly label: string;
  readonly argumentsHash: string;
  readonly deadline: string;
  readonly askedAt: string;
}

/** What is known of questions to people. They are asked and answered by the events `approval_requested` and `approval_resolved`. */
export interface ApprovalStore {
  /** Calls of open runs that nobody has decided on, of one session or of all, the nearest deadline first. */
  openApprovals(sessionId?: string): Promise<readonly OpenApproval[]>;
  /** Names of tools that somebody approved for the whole session. */
  grants(sessionId: string): Promise<readonly string[]>;
}
