import type { BranchEffect } from '../store/reset-port.ts';
import type { UserMessage } from '../transcript/items.ts';
import { headOf } from '../transcript/well-formed.ts';

/** Characters of each call's arguments, and of its result, that the model is told. */
const MAX_CHARS = 2000;

/** Tells the model what was done in steps that a reset took back. People do not see it. */
export function branchItem(effects: readonly BranchEffect[]): UserMessage {
  const text = [
    'This run was reset to an earlier point. Before that, these calls were run; you no longer see them above, but what they did is done and was not undone. Do not repeat them.',
    ...effects.map(told),
  ].join('\n\n');
  return { kind: 'user_message', schemaVersion: 1, origin: 'control', content: [{ type: 'text', text }] };
}

function told({ name, callId, arguments: args, status, text }: BranchEffect): string {
  const call = `${name} (call ${callId}) ${cut(JSON.stringify(args))}`;
  return status === undefined
    ? `${call}\nIt had begun; whether it succeeded is not known.`
    : `${call}\nstatus ${status}:\n${cut(text)}`;
}

function cut(text: string): string {
  return text.length <= MAX_CHARS ? text : `${headOf(text, MAX_CHARS)}\n[…]`;
}
