import type { LateResult } from '../store/store.ts';
import type { ToolResult, UserMessage } from '../transcript/items.ts';
import { headOf } from '../transcript/well-formed.ts';

/** Characters of each late result that the model is told. */
const MAX_CHARS = 4000;

/** Tells the model what calls came back with that it was told nothing certain of. People do not see it. */
export function lateItem(results: readonly LateResult[]): UserMessage {
  const told = results.map(
    ({ callId, name, result }) => `${name} (call ${callId}), status ${result.status}:\n${textOf(result)}`,
  );
  const text = [
    'These calls were given up because the worker that ran them was lost, but they did come back. This is what really happened; do not repeat them.',
    ...told,
  ].join('\n\n');
  return { kind: 'user_message', schemaVersion: 1, origin: 'control', content: [{ type: 'text', text }] };
}

function textOf({ content }: ToolResult): string {
  const text = content.map((block) => (block.type === 'text' ? block.text : `[${block.type}]`)).join('\n');
  return text.length <= MAX_CHARS ? text : `${headOf(text, MAX_CHARS)}\n[…]`;
}
