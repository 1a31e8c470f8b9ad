import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { setCurrentDetails, upsertSearchAttributes } from '@temporalio/workflow';
import type { RunStatus } from '../transcript/events.ts';
import type { SessionState } from './session-state.ts';

const keyword = (name: string) => defineSearchAttributeKey(name, SearchAttributeType.KEYWORD);
const SESSION = keyword('HoldfastSession');
const AGENT = keyword('HoldfastAgent');
const MODEL = keyword('HoldfastModel');
const STATUS = keyword('HoldfastStatus');
const RUN = keyword('HoldfastRun');

/** What the Web UI can search by. One event in the history, so: only when the status changes. */
export function showStatus(state: SessionState, status: RunStatus): void {
  const run = state.run;
  if (run === undefined) return;
  upsertSearchAttributes([
    { key: SESSION, value: state.sessionId },
    { key: AGENT, value: run.agent },
    { key: MODEL, value: run.model },
    { key: STATUS, value: status },
    { key: RUN, value: run.runId },
  ]);
}

/** Says what happens now, in the Web UI's details (Markdown, no event) and to the `status` query. */
export function show(state: SessionState, activity: string): void {
  state.activity = activity;
  const run = state.run;
  setCurrentDetails(
    [
      `**${activity}**`,
      '',
      `- session \`${state.sessionId}\`, run \`${run?.runId ?? ''}\``,
      `- agent \`${run?.agent ?? ''}\`, model \`${run?.model ?? ''}\``,
      `- step ${run?.step ?? 0}, ${state.contextTokens ?? 0} tokens in context`,
      `- ${state.inbox.length} messages queued`,
    ].join('\n'),
  );
}

/** `step 3 · anthropic/claude · 12.4k tokens`: an activity's line in the Web UI's timeline. */
export function stepSummary(step: number, model: string, tokens: number | undefined): string {
  const context = tokens === undefined ? '' : ` · ${tokens < 1000 ? tokens : `${(tokens / 1000).toFixed(1)}k`} tokens`;
  return `step ${step} · ${model}${context}`;
}
