import { assertNever } from './assert-never.ts';
import { isEmptyItem } from './empty-item.ts';
import type { AgentItem, AssistantMessage, ContentBlock, Replay, TranscriptEntry } from './items.ts';
import { replaysOf } from './replay-scope.ts';
import { responseOf } from './response-runs.ts';

/**
 * The version of every persisted view edit.
 *
 * - 1: first version.
 */
const VIEW_EDIT_SCHEMA_VERSION = 1;

/** Which rule of a maintenance pass asked for an edit. */
export type EditReason =
  | 'output_over_cap'
  | 'microcompact'
  | 'drop_tool_output'
  | 'drop_reasoning'
  | 'drop_assistant_text'
  | 'drop_user_text'
  | 'media_bytes';

/**
 * What a maintenance pass did to an item of the view; the item in the store never changes.
 *
 * Holds the outcome and not the recipe, so that a view can be built again byte for byte by any later release. Of
 * several edits for one target the last one counts.
 */
export interface ViewEdit {
  readonly schemaVersion: typeof VIEW_EDIT_SCHEMA_VERSION;
  readonly seq: number;
  /** The result that the edit is about, when the item is a batch of results. */
  readonly callId?: string;
  readonly action: EditAction;
  readonly reason: EditReason;
  /** Tokens of the target before and after. */
  readonly tokensBefore: number;
  readonly tokensAfter: number;
}

export type EditAction =
  /** The content of a result or a user message becomes this. */
  | { readonly type: 'set_content'; readonly content: readonly ContentBlock[] }
  /** The text of an assistant message or of reasoning becomes this. */
  | { readonly type: 'set_text'; readonly text: string }
  /** Reasoning goes, and with it the replay data of its whole response: half of it would be refused. */
  | { readonly type: 'remove_reasoning'; readonly responseId: string };

/** Edits by their target, ready to be applied. */
export interface EditIndex {
  readonly bySeq: ReadonlyMap<number, readonly ViewEdit[]>;
  /** Responses whose replay data is gone, by `response.id`. */
  readonly unsigned: ReadonlySet<string>;
}

export function editIndex(edits: readonly ViewEdit[]): EditIndex {
  const bySeq = new Map<number, ViewEdit[]>();
  const unsigned = new Set<string>();
  for (const edit of edits) {
    const list = bySeq.get(edit.seq);
    if (list === undefined) bySeq.set(edit.seq, [edit]);
    else list.push(edit);
    if (edit.action.type === 'remove_reasoning') unsigned.add(edit.action.responseId);
  }
  return { bySeq, unsigned };
}

/** The item as the view shows it: the same object when no edit touches it, `undefined` when it is gone. */
export function editedItem({ seq, item }: TranscriptEntry, index: EditIndex): AgentItem | undefined {
  const edits = index.bySeq.get(seq);
  const id = index.unsigned.size === 0 ? undefined : responseOf(item)?.id;
  const bare = id !== undefined && index.unsigned.has(id) ? withoutReplay(item) : item;
  const edited = edits === undefined ? bare : withEdits(bare, edits);
  // A part that said nothing and stood there for its signature only goes with it.
  return edited === undefined || (edited !== item && isEmptyItem(edited)) ? undefined : edited;
}

function withEdits(item: AgentItem, edits: readonly ViewEdit[]): AgentItem | undefined {
  if (item.kind === 'tool_result_batch') {
    return { ...item, results: item.results.map((result) => editedResult(result, edits)) };
  }
  const edit = edits.at(-1);
  return edit === undefined ? item : applied(item, edit.action);
}

function editedResult<Result extends { readonly callId: string; readonly content: readonly ContentBlock[] }>(
  result: Result,
  edits: readonly ViewEdit[],
): Result {
  const edit = edits.findLast((candidate) => candidate.callId === result.callId);
  return edit?.action.type === 'set_content' ? { ...result, content: edit.action.content } : result;
}

/** An action that does not belong to the kind of item (data from elsewhere) changes nothing. */
function applied(item: AgentItem, action: EditAction): AgentItem | undefined {
  switch (action.type) {
    case 'set_content':
      return item.kind === 'user_message' ? { ...item, content: action.content } : item;
    case 'set_text':
      if (item.kind === 'assistant_message') return withText(item, action.text);
      return item.kind === 'reasoning_summary' ? withoutReplay({ ...item, text: action.text }) : item;
    case 'remove_reasoning':
      return item.kind === 'reasoning_summary' ? undefined : item;
    default:
      return assertNever(action, 'edit action');
  }
}

/** One text in the place of the first; what is no text stays. Signatures of the old text do not fit the new one. */
function withText(item: AssistantMessage, text: string): AssistantMessage {
  const first = item.content.findIndex((block) => block.type !== 'extension');
  const content = item.content.flatMap((block, at): AssistantMessage['content'] => {
    if (block.type === 'extension') return [block];
    return at === first ? [withoutOwnReplay({ ...block, text })] : [];
  });
  return { ...item, content };
}

function withoutReplay(item: AgentItem): AgentItem {
  if (replaysOf(item).length === 0) return item;
  switch (item.kind) {
    case 'assistant_message':
      return { ...item, content: item.content.map(withoutOwnReplay) };
    case 'tool_call_batch':
      return { ...item, calls: item.calls.map(withoutOwnReplay) };
    case 'reasoning_summary':
    case 'builtin_tool_event':
      return withoutOwnReplay(item);
    case 'user_message':
    case 'tool_result_batch':
    case 'compaction_summary':
      return item;
    default:
      return assertNever(item, 'item kind');
  }
}

function withoutOwnReplay<Part extends { readonly replay?: Replay }>(part: Part): Part {
  if (part.replay === undefined) return part;
  const { replay: _, ...rest } = part;
  return rest as Part;
}
