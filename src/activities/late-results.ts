import type { LateResult } from '../store/store.ts';
import type { UserMessage } from '../transcript/items.ts';
import { hiddenMessage, shortened } from './control-message.ts';
import { resultText } from './result-text.ts';

/** Characters of each late result that the model is told. */
const MAX_CHARS = 4000;

/** Tells the model what calls came back with that it was told nothing certain of. */
export function lateItem(results: readonly LateResult[]): UserMessage {
  const told = results.map(
    ({ callId, name, result }) =>
      `${name} (call ${callId}), status ${result.status}:\n${shortened(resultText(result), MAX_CHARS)}`,
  );
  return hiddenMessage(
    [
      'These calls were given up because the worker that ran them was lost, but they did come back. This is what really happened; do not repeat them.',
      ...told,
    ].join('\n\n'),
  );
}
