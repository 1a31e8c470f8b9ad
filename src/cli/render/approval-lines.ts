import type { ApprovalRequest } from '../../client/approvals.ts';
import type { JsonObject } from '../../transcript/json.ts';
import { unmistakable } from '../../transcript/unmistakable.ts';
import { headOf } from '../../transcript/well-formed.ts';

/** Characters of arguments that are shown where a person has not asked for all. */
const MAX_CHARS = 4000;

/** Calls that wait, each with all that a person needs to decide. */
export function approvalLines(
  approvals: readonly ApprovalRequest[],
  options: { readonly now: number; readonly all: boolean },
): string {
  if (approvals.length === 0) return 'No call waits for an approval.\n';
  return approvals.map((approval) => `${oneApproval(approval, options)}\n`).join('\n');
}

function oneApproval(approval: ApprovalRequest, { now, all }: { now: number; all: boolean }): string {
  const { sessionId, callId, label, deadline } = approval;
  const lines = [
    `${unmistakable(label)}`,
    ...argumentLines(approval.arguments, all),
    `until ${deadline.slice(0, 19).replace('T', ' ')} UTC (${timeLeft(Date.parse(deadline) - now)})`,
    answerCommands(sessionId, callId),
  ];
  return `${unmistakable(approval.name)} in session ${sessionId}\n${lines.map((line) => `  ${line}`).join('\n')}`;
}

/** Arguments as people may trust them: JSON, and nothing in it that looks like something else. */
export function argumentLines(args: JsonObject, all: boolean): readonly string[] {
  const text = JSON.stringify(args, undefined, 2);
  const shown = all || text.length <= MAX_CHARS ? text : headOf(text, MAX_CHARS);
  const lines = unmistakable(shown, { lines: true }).split('\n');
  const missing = text.length - shown.length;
  return missing === 0 ? lines : [...lines, `… ${missing} characters more (holdfast approvals --all shows them)`];
}

/** The commands that answer. */
export function answerCommands(sessionId: string, callId: string): string {
  return `holdfast approve ${sessionId} ${callId}   or   holdfast deny ${sessionId} ${callId} --note "why"`;
}

function timeLeft(ms: number): string {
  if (ms <= 0) return 'passed';
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 1) return `${Math.ceil(ms / 1000)} s left`;
  return minutes < 120 ? `${minutes} min left` : `${Math.floor(minutes / 60)} h left`;
}
