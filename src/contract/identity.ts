/** Strings that live in histories and in clients' code. Changing one means telling every running agent. */

/** Workflow type of a run. */
export const AGENT_RUN = 'agentRun';
/** Workflow type of a compaction, always a child of a run. */
export const COMPACT_SESSION = 'compactSession';
/** Task queue of workflows and of all activities but tools; quick read-only tools run here too. */
export const TASK_QUEUE = 'holdfast';
/** Task queue of tools, so that long commands cannot starve the rest. */
export const TOOLS_TASK_QUEUE = 'holdfast-tools';

const WORKFLOW_ID_PREFIX = 'session/';

/** The id under which a session's runs must be started: Temporal allows one open workflow an id, so it is the session's lock. */
export function workflowIdOf(sessionId: string): string {
  return `${WORKFLOW_ID_PREFIX}${sessionId}`;
}

/** `[A-Za-z0-9._-]{1,128}`, and for subagents `<parent>/sub/<callId>`, any depth. */
const SESSION_ID = /^[A-Za-z0-9._-]{1,128}(?:\/sub\/[A-Za-z0-9._-]{1,128})*$/;

export function isSessionId(text: string): boolean {
  return SESSION_ID.test(text);
}

/** Search attributes, all of type Keyword, registered idempotently when a worker or the dev server starts. */
export const SEARCH_ATTRIBUTES = [
  'HoldfastSession',
  'HoldfastAgent',
  'HoldfastModel',
  'HoldfastStatus',
  'HoldfastRun',
] as const;

/** Agent that answers when none is named. */
export const DEFAULT_AGENT = 'default';

/** Longest message text that travels in an update, in UTF-16 units (8 KiB as UTF-8 is checked by bytes); longer ones go by blob. */
export const MAX_INLINE_BYTES = 8192;
export const MAX_INBOX_MESSAGES = 100;
export const MAX_INBOX_BYTES = 262_144;
