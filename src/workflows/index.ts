// The bundle's entry: what it exports is what Temporal can start.
export { agentRun } from './agent-run.ts';
export { compactSession } from './compact-session.ts';
