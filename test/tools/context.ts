import type { ToolContext } from '../../src/tools/tool.ts';

/** A context as the activity would give it, with what a test wants changed. */
export function toolContext(changes: Partial<ToolContext> = {}): ToolContext {
  return {
    sessionId: 'session',
    runId: 'run',
    callId: 'call',
    idempotencyKey: 'call',
    attempt: 1,
    signal: new AbortController().signal,
    workspace: '/nowhere',
    progress: () => undefined,
    ...changes,
  };
}
