import { assertNever } from './assert-never.ts';
import type { AgentItem, AssistantMessage, ContentBlock, Replay, TranscriptEntry } from './items.ts';
import { responseOf } from './response-runs.ts';

/**
 * The version of every persisted view edit.
 *
 * - 1: first version.
 */
export const VIEW_EDIT_SCHEMA_VERSION = 1;

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
  readonly schemaVersion: 1;
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
  | { readonly type: 'remove_reasoning' };

/** Edits by their target, ready to be applied. */
export interface EditIndex {
  readonly bySeq: ReadonlyMap<number, readonly ViewEdit[]>;
  /** Responses whose replay data is gone, by `response.id`. */
  readonly unsigned: ReadonlySet<string>;
}

export function editIndex(edits: readonly ViewEdit[], entries: readonly TranscriptEntry[]): EditIndex {
  const bySeq = new Map<number, ViewEdit[]>();
  for (const edit of edits) {
    const list = bySeq.get(edit.seq);
    if (list === undefined) bySeq.set(edit.seq, [edit]);
    else list.push(edit);
  }
  const unsigned = new Set<string>();
  if (edits.some((edit) => edit.action.type === 'remove_reasoning')) {
    for (const { seq, item } of entries) {
      const id = responseOf(item)?.id;
      if (id !== undefined && bySeq.get(seq)?.at(-1)?.action.type === 'remove_reasoning') unsigned.add(id);
    }
  }
  return { bySeq, unsigned };
}

/** The item as the view shows it: the same object when no edit touches it, `undefined` when it is gone. */
export function editedItem({ seq, item }: TranscriptEntry, index: EditIndex): AgentItem | undefined {
  const edits = index.bySeq.get(seq);
  const id = index.unsigned.size === 0 ? undefined : responseOf(item)?.id;
  const bare = id !== undefined && index.unsigned.has(id) ? withoutReplay(item) : item;
  if (edits === undefined) return bare;
  if (bare.kind === 'tool_result_batch')
    return { ...bare, results: bare.results.map((result) => editedResult(result, edits)) };
  const edit = edits.at(-1);
  return edit === undefined ? bare : applied(bare, edit.action);
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
