import { knownItemTokens } from './item-tokens.ts';
import type { AgentItem, ItemKind, TranscriptEntry } from './items.ts';
import type { View, ViewPart } from './view.ts';
import type { EditReason } from './view-edits.ts';

/**
 * What became of an item. `cut`: shown in part, with a note. `edited`: replaced by a maintenance pass. `omitted`: not
 * shown (observed context whose step is over, reasoning that a pass removed). `repaired`: mended, or made by a repair.
 */
export type Fate = 'summary' | 'kept' | 'cut' | 'edited' | 'repaired' | 'summarised' | 'omitted';

export interface ExplainedItem {
  /** `null` for what is not in the store: the summary, and what a repair added. */
  readonly seq: number | null;
  readonly kind: ItemKind;
  readonly fate: Fate;
  /** For people, in a few words. */
  readonly why: string;
  /** Tokens that it takes in the request: 0 when it is not there. */
  readonly tokens: number;
  /** Tokens of the item as the store has it. */
  readonly originalTokens: number;
}

export interface ViewExplanation {
  /** First what the request holds, in its order, then what it does not hold, by `seq`. */
  readonly items: readonly ExplainedItem[];
  /** The sum of `tokens` over `items`: exactly what the view is estimated to take. */
  readonly tokens: number;
}

const EDITED: Readonly<Record<EditReason, string>> = {
  output_over_cap: 'output over its cap: head and tail kept',
  microcompact: 'old tool output, shortened by its size and worth',
  drop_tool_output: 'tool output dropped to fit the window',
  drop_reasoning: 'reasoning dropped to fit the window',
  drop_assistant_text: 'assistant text shortened to fit the window',
  drop_user_text: 'user text shortened to fit the window',
  media_bytes: 'media replaced by a note to keep the request small',
};

/** Tells of each item of the session whether the view keeps, cuts, edits or summarises it, why, and for how many tokens. */
export function explainView(view: View): ViewExplanation {
  const shown = view.parts.map((part) => explainedPart(part, view));
  const seqs = new Set(view.parts.map((part) => part.seq));
  const hidden = view.input.entries.filter(({ seq }) => !seqs.has(seq)).map((entry) => explainedHidden(entry, view));
  const items = [...shown, ...hidden];
  return { items, tokens: items.reduce((sum, item) => sum + item.tokens, 0) };
}

function explainedPart(part: ViewPart, view: View): ExplainedItem {
  const tokens = knownItemTokens(part.item);
  const originalTokens = part.original === undefined ? tokens : knownItemTokens(part.original);
  return { seq: part.seq, kind: part.item.kind, ...fateOf(part, view), tokens, originalTokens };
}

function fateOf(part: ViewPart, view: View): { readonly fate: Fate; readonly why: string } {
  if (part.state === 'summary') return { fate: 'summary', why: 'stands for what was summarised' };
  if (part.seq === null) return { fate: 'repaired', why: 'added by a repair' };
  const reason = lastReason(view, part.seq);
  if (part.original !== undefined) {
    if (reason !== undefined) return { fate: 'edited', why: EDITED[reason] };
    if (part.state === 'protected') return { fate: 'cut', why: 'protected, but over an eighth of the budget' };
    if (view.repairs.length > 0) return { fate: 'repaired', why: 'mended' };
    return { fate: 'edited', why: 'its reasoning was dropped, and replay data went with it' };
  }
  return { fate: 'kept', why: part.state === 'protected' ? 'protected: not answered yet' : 'recent' };
}

function explainedHidden({ seq, item }: TranscriptEntry, view: View): ExplainedItem {
  const originalTokens = knownItemTokens(item);
  return { seq, kind: item.kind, ...hiddenFate(seq, item, view), tokens: 0, originalTokens };
}

function hiddenFate(seq: number, item: AgentItem, view: View): { readonly fate: Fate; readonly why: string } {
  const { checkpoint } = view.input;
  if (checkpoint !== undefined && seq < checkpoint.firstKeptSeq) {
    return { fate: 'summarised', why: `replaced by compaction ${checkpoint.compactionId}` };
  }
  const reason = lastReason(view, seq);
  if (reason !== undefined) return { fate: 'omitted', why: EDITED[reason] };
  if (item.kind === 'user_message' && item.origin === 'observed') {
    return { fate: 'omitted', why: 'observed context: its step is over' };
  }
  const why = view.repairs.length > 0 ? 'removed by a repair' : 'said nothing without its replay data';
  return { fate: 'omitted', why };
}

function lastReason({ input }: View, seq: number): EditReason | undefined {
  return input.edits?.findLast((edit) => edit.seq === seq)?.reason;
}
