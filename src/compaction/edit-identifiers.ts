import type { ContentBlock } from '../transcript/items.ts';
import { textTokens } from '../transcript/text-tokens.ts';
import { contentTokens } from '../transcript/tokens.ts';
import { buildView, type View } from '../transcript/view.ts';
import type { ViewEdit } from '../transcript/view-edits.ts';
import { byWorth } from './identifier-record.ts';
import { holdsIdentifier, identifiersOf } from './identifiers.ts';
import { storedItem, textOf } from './item-text.ts';

/** Tokens of the names that a shortened output keeps. */
const KEPT_TOKENS = 80;

/** An edit that frees less is not worth a break in the cached prefix, in tokens. */
const MIN_FREED = 10;

/**
 * Edits of a maintenance pass that keep the exact names of what they cut: a line with them stands behind the shortened
 * output. An edit that then frees nothing is left out. The same edits for the same view.
 */
export function keepIdentifiers(view: View, edits: readonly ViewEdit[]): readonly ViewEdit[] {
  const contents = contentsOf(view);
  return edits.flatMap((edit) => {
    const whole = edit.callId === undefined ? undefined : contents.get(edit.callId);
    if (whole === undefined || edit.action.type !== 'set_content') return [edit];
    const note = noteOf(textOf(whole), textOf(edit.action.content));
    const content = note === '' ? edit.action.content : [...edit.action.content, { type: 'text' as const, text: note }];
    const tokensAfter = contentTokens(content);
    if (edit.tokensBefore - tokensAfter < MIN_FREED) return [];
    return [{ ...edit, action: { type: 'set_content' as const, content }, tokensAfter }];
  });
}

/** The view with further edits. */
export function withEdits(view: View, edits: readonly ViewEdit[]): View {
  return edits.length === 0 ? view : buildView({ ...view.input, edits: [...(view.input.edits ?? []), ...edits] });
}

function noteOf(whole: string, shown: string): string {
  const lost = byWorth(identifiersOf(whole)).filter(({ text }) => !holdsIdentifier(shown, text));
  const kept: string[] = [];
  let room = KEPT_TOKENS;
  for (const { text } of lost) {
    room -= textTokens(` ${text}`);
    if (room < 0) break;
    kept.push(text);
  }
  return kept.length === 0 ? '' : `[named in what was cut: ${kept.join(' ')}]`;
}

/** Results as the store has them, by call id. */
function contentsOf(view: View): ReadonlyMap<string, readonly ContentBlock[]> {
  const contents = new Map<string, readonly ContentBlock[]>();
  for (const part of view.parts) {
    const stored = storedItem(part);
    if (stored.kind !== 'tool_result_batch') continue;
    for (const { callId, content } of stored.results) contents.set(callId, content);
  }
  return contents;
}
