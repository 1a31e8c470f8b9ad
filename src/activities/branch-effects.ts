import type { BranchEffect } from '../store/reset-port.ts';
import type { UserMessage } from '../transcript/items.ts';
import { hiddenMessage, shortened } from './control-message.ts';

/** Characters of each call's arguments, and of its result, that the model is told. */
const MAX_CHARS = 2000;

/** Tells the model what was done in steps that a reset took back. */
export function branchItem(effects: readonly BranchEffect[]): UserMessage {
  return hiddenMessage(
    [
      'This run was reset to an earlier point. Before that, these calls were run; you no longer see them above, but what they did is done and was not undone. Do not repeat them.',
      ...effects.map(told),
    ].join('\n\n'),
  );
}

function told({ name, callId, arguments: args, status, text }: BranchEffect): string {
  const call = `${name} (call ${callId}) ${shortened(JSON.stringify(args), MAX_CHARS)}`;
  return status === undefined
    ? `${call}\nIt had begun; whether it succeeded is not known.`
    : `${call}\nstatus ${status}:\n${shortened(text, MAX_CHARS)}`;
}
