import { PRUNED } from './compact-action.ts';
import { groupsOf } from './groups.ts';
import { knownItemTokens } from './item-tokens.ts';
import type { AgentItem, ContentBlock, ToolResult } from './items.ts';
import { isMedia, mediaNote } from './media-edits.ts';
import { openTurnStart } from './microcompact.ts';
import { cutTexts } from './protected-items.ts';
import { contentTokens, itemTokens } from './tokens.ts';
import { truncateOutput } from './truncate.ts';
import { buildView, type View, type ViewPart, viewTokens } from './view.ts';
import type { EditReason, ViewEdit } from './view-edits.ts';

export interface ShrinkOptions {
  /** Tokens that the view may take. */
  readonly target: number;
  /** Cap of one tool output while older groups are still there to be shortened. */
  readonly outputCap: number;
}

export interface Shrunk {
  readonly edits: readonly ViewEdit[];
  /** The view with the edits. */
  readonly view: View;
  readonly tokensFreed: number;
  readonly fits: boolean;
}

/** Caps that results and texts are pressed to, one after the other, when nothing gentler helps. */
const PRESSED: readonly number[] = [2000, 500, 120, 40];

/**
 * Makes a view fit by edits, inside a maintenance pass only: tool output first, then reasoning, then assistant text,
 * then user text; oldest first, and no further than needed. Call ids, groups and the open turn's reasoning stay.
 */
export function shrinkView(view: View, options: ShrinkOptions): Shrunk {
  const passes: readonly ((view: View, excess: number) => readonly ViewEdit[])[] = [
    (now, excess) => outputEdits(now, excess, options.outputCap, 'output_over_cap', now.items.length),
    (now, excess) => prunedOutputs(now, excess),
    ...PRESSED.map(
      (cap) => (now: View, excess: number) => outputEdits(now, excess, cap, 'drop_tool_output', now.items.length),
    ),
    (now, excess) => reasoningEdits(now, excess),
    ...PRESSED.map((cap) => (now: View, excess: number) => textEdits(now, excess, cap, 'assistant_message')),
    ...PRESSED.map((cap) => (now: View, excess: number) => textEdits(now, excess, cap, 'user_message')),
  ];
  let now = view;
  const edits: ViewEdit[] = [];
  for (const pass of passes) {
    const excess = viewTokens(now) - options.target;
    if (excess <= 0) break;
    const made = pass(now, excess);
    if (made.length === 0) continue;
    edits.push(...made);
    now = buildView({ ...view.input, edits: [...(view.input.edits ?? []), ...edits] });
  }
  const tokens = viewTokens(now);
  return { edits, view: now, tokensFreed: viewTokens(view) - tokens, fits: tokens <= options.target };
}

/** Edits for every tool output of the view that is over its cap (the window became smaller, or an import brought it). */
export function outputsOverCap(view: View, cap: number): readonly ViewEdit[] {
  return outputEdits(view, Number.POSITIVE_INFINITY, cap, 'output_over_cap', view.items.length);
}

/** Edits from the oldest on, until `excess` tokens are freed. */
function untilFreed(
  parts: readonly ViewPart[],
  excess: number,
  edit: (part: ViewPart) => readonly ViewEdit[],
): readonly ViewEdit[] {
  const edits: ViewEdit[] = [];
  let left = excess;
  for (const part of parts) {
    if (left <= 0) break;
    for (const made of edit(part)) {
      edits.push(made);
      left -= made.tokensBefore - made.tokensAfter;
    }
  }
  return edits;
}

function outputEdits(view: View, excess: number, cap: number, reason: EditReason, end: number): readonly ViewEdit[] {
  return untilFreed(view.parts.slice(0, end), excess, (part) =>
    resultsOf(part).flatMap(({ seq, result }) => {
      if (contentTokens(result.content) <= cap) return [];
      const { text } = truncateOutput(textOf(result.content), { maxTokens: cap, callId: result.callId });
      return contentEdit(seq, result, [{ type: 'text', text: text === '' ? PRUNED : text }], reason);
    }),
  );
}

/** Whole outputs go, but those of the newest group: the model has just asked for them. */
function prunedOutputs(view: View, excess: number): readonly ViewEdit[] {
  const end = groupsOf(view.items).at(-1)?.start ?? 0;
  return untilFreed(view.parts.slice(0, end), excess, (part) =>
    resultsOf(part).flatMap(({ seq, result }) =>
      contentEdit(seq, result, [{ type: 'text', text: PRUNED }], 'drop_tool_output'),
    ),
  );
}

function resultsOf(part: ViewPart): readonly { readonly seq: number; readonly result: ToolResult }[] {
  const { seq, item } = part;
  if (seq === null || item.kind !== 'tool_result_batch') return [];
  return item.results.map((result) => ({ seq, result }));
}

function contentEdit(
  seq: number,
  result: ToolResult,
  content: readonly ContentBlock[],
  reason: EditReason,
): readonly ViewEdit[] {
  const tokensBefore = contentTokens(result.content);
  const tokensAfter = contentTokens(content);
  if (tokensAfter >= tokensBefore) return [];
  const action = { type: 'set_content', content } as const;
  return [{ schemaVersion: 1, seq, callId: result.callId, action, reason, tokensBefore, tokensAfter }];
}

function reasoningEdits(view: View, excess: number): readonly ViewEdit[] {
  return untilFreed(view.parts.slice(0, openTurnStart(view.items)), excess, ({ seq, item }) => {
    if (seq === null || item.kind !== 'reasoning_summary') return [];
    const action = { type: 'remove_reasoning', responseId: item.response.id } as const;
    const tokensBefore = knownItemTokens(item);
    return [{ schemaVersion: 1, seq, action, reason: 'drop_reasoning', tokensBefore, tokensAfter: 0 }];
  });
}

function textEdits(
  view: View,
  excess: number,
  cap: number,
  kind: 'assistant_message' | 'user_message',
): readonly ViewEdit[] {
  return untilFreed(view.parts, excess, ({ seq, item }) => {
    if (seq === null || item.kind !== kind || knownItemTokens(item) <= cap) return [];
    const edit = item.kind === 'user_message' ? userEdit(item.content, cap) : assistantEdit(item.content, cap);
    const changed = editedCopy(item, edit.action);
    const tokensBefore = knownItemTokens(item);
    const tokensAfter = itemTokens(changed);
    return tokensAfter >= tokensBefore ? [] : [{ schemaVersion: 1, seq, ...edit, tokensBefore, tokensAfter }];
  });
}

type TextEdit = Pick<ViewEdit, 'action' | 'reason'>;

/** How the model may see the whole of a text that was shortened. */
const READ_BY = 'read_transcript';

function userEdit(content: readonly ContentBlock[], cap: number): TextEdit {
  return { action: { type: 'set_content', content: cutTexts(content, cap, READ_BY) }, reason: 'drop_user_text' };
}

function assistantEdit(content: readonly { readonly type: string; readonly text?: string }[], cap: number): TextEdit {
  const said = content.flatMap((block) => block.text ?? []).join('\n');
  const { text } = truncateOutput(said, { maxTokens: cap, readBy: READ_BY });
  return { action: { type: 'set_text', text: text === '' ? '…' : text }, reason: 'drop_assistant_text' };
}

function editedCopy(item: AgentItem, action: ViewEdit['action']): AgentItem {
  if (action.type === 'set_content' && item.kind === 'user_message') return { ...item, content: action.content };
  if (action.type !== 'set_text' || item.kind !== 'assistant_message') return item;
  return {
    ...item,
    content: [...item.content.filter((block) => block.type === 'extension'), { type: 'text', text: action.text }],
  };
}

/** What a result says, media as notes: they go with the output that is cut. */
function textOf(content: readonly ContentBlock[]): string {
  return content
    .map((block) => (block.type === 'text' ? block.text : isMedia(block) ? mediaNote(block.media) : ''))
    .join('\n');
}
