import { knownItemTokens } from './item-tokens.ts';
import type { AgentItem, CompactionSummary, TranscriptEntry } from './items.ts';
import { normalize } from './normalize.ts';
import { cutProtected } from './protected-items.ts';
import type { Repair } from './repair.ts';
import { responseOf } from './response-runs.ts';
import type { TokenEstimator } from './text-tokens.ts';
import { validate } from './validate.ts';
import { type EditIndex, editedItem, editIndex, type ViewEdit } from './view-edits.ts';

/** What a view needs of a committed compaction. */
export interface ViewCheckpoint {
  readonly compactionId: string;
  readonly summary: string;
  /** Items from here on are kept word for word. */
  readonly firstKeptSeq: number;
  /** Earlier items that the summary does not replace: unanswered messages, open approvals. */
  readonly protectedSeqs: readonly number[];
}

export interface ViewInput {
  /**
   * Live entries of the session in order of `seq`. Those that the checkpoint replaced may be left out (the step of a long
   * session reads only what it needs); when they are there, `explainView` tells of them.
   */
  readonly entries: readonly TranscriptEntry[];
  readonly checkpoint?: ViewCheckpoint;
  /** All edits of the session, in the order in which they were committed. */
  readonly edits?: readonly ViewEdit[];
  /** How many further edits the session has that are not among `edits`, being of items that the checkpoint replaced. */
  readonly editsLeftOut?: number;
  /** In tokens; the part of a window's budget that cuts protected items (`windowBudget` gives one). */
  readonly budget: { readonly budget: number };
}

/** Where an item of the view comes from, and what became of it on the way. */
export type ViewState = 'summary' | 'protected' | 'kept';

/** One item of a view. */
export interface ViewPart {
  /** `null` for the summary and for what a repair added. */
  readonly seq: number | null;
  readonly item: AgentItem;
  /** The item as the store has it, when the view shows another. */
  readonly original?: AgentItem;
  readonly state: ViewState;
}

/** What the next request will carry, in order. Immutable; made by {@link buildView} and {@link extendView} only. */
export interface View {
  /** The same exactly while no maintenance pass has come between; part of what a token anchor is bound to. */
  readonly revision: string;
  readonly items: readonly AgentItem[];
  readonly parts: readonly ViewPart[];
  /** What had to be mended; empty for every transcript that we wrote ourselves. */
  readonly repairs: readonly Repair[];
  readonly input: ViewInput;
}

/**
 * The only way from a transcript to a request: latest summary, protected items, kept items, current turn.
 *
 * Never drops anything to fit: that is done in a maintenance pass, by edits that were recorded, or by a checkpoint.
 * Between two passes the items of a view are a prefix of those of the next (`observed` messages excepted: they are
 * shown in the step they came for, at the end). Pure and linear.
 */
export function buildView(input: ViewInput): View {
  const index = editIndex(input.edits ?? []);
  const parts: ViewPart[] = [];
  const summary = summaryItem(input.checkpoint);
  if (summary !== undefined) parts.push({ seq: null, item: summary, state: 'summary' });
  for (const entry of protectedEntries(input)) pushPart(parts, entry, index, 'protected', input);
  const kept = keptEntries(input);
  const shown = lastResponseAt(kept);
  for (const entry of kept) if (!isObserved(entry.item)) pushPart(parts, entry, index, 'kept', input);
  for (const [at, entry] of kept.entries()) {
    if (isObserved(entry.item) && at > shown) pushPart(parts, entry, index, 'kept', input);
  }
  return assembled(parts, input);
}

function assembled(parts: readonly ViewPart[], input: ViewInput): View {
  const { items, repairs } = normalize(parts.map((part) => part.item));
  return {
    revision: revisionOf(input),
    items,
    parts: repairs.length === 0 ? parts : repairedParts(items, parts),
    repairs,
    input,
  };
}

/** Checkpoints and edits are only ever added, so the newest of one and the number of the others tell them all. */
function revisionOf({ checkpoint, edits, editsLeftOut = 0 }: ViewInput): string {
  return `${checkpoint?.compactionId ?? 'start'}/${(edits?.length ?? 0) + editsLeftOut}`;
}

function summaryItem(checkpoint: ViewCheckpoint | undefined): CompactionSummary | undefined {
  if (checkpoint === undefined) return undefined;
  const { compactionId, summary } = checkpoint;
  return { kind: 'compaction_summary', schemaVersion: 1, compactionId, text: summary };
}

function protectedEntries({ entries, checkpoint }: ViewInput): readonly TranscriptEntry[] {
  if (checkpoint === undefined || checkpoint.protectedSeqs.length === 0) return [];
  const seqs = new Set(checkpoint.protectedSeqs);
  return entries.filter(({ seq }) => seq < checkpoint.firstKeptSeq && seqs.has(seq));
}

function keptEntries({ entries, checkpoint }: ViewInput): readonly TranscriptEntry[] {
  if (checkpoint === undefined) return entries;
  const from = entries.findIndex(({ seq }) => seq >= checkpoint.firstKeptSeq);
  return from === -1 ? [] : entries.slice(from);
}

/** Context such as group chatter, shown to the model in its step only. */
export function isObserved(item: AgentItem): boolean {
  return item.kind === 'user_message' && item.origin === 'observed';
}

/** Position of the last item that a model wrote: observed messages before it had their step. */
function lastResponseAt(entries: readonly TranscriptEntry[]): number {
  return entries.findLastIndex(({ item }) => responseOf(item) !== undefined);
}

function pushPart(
  parts: ViewPart[],
  entry: TranscriptEntry,
  index: EditIndex,
  state: 'protected' | 'kept',
  input: ViewInput,
): void {
  const edited = editedItem(entry, index);
  if (edited === undefined) return;
  const item = state === 'protected' ? cutProtected(edited, input.budget.budget) : edited;
  const changed = item === entry.item ? {} : { original: entry.item };
  parts.push({ seq: entry.seq, item, state, ...changed });
}

/** Parts of a view that had to be mended: what stayed the same object keeps its place of origin, batches by their calls. */
function repairedParts(items: readonly AgentItem[], parts: readonly ViewPart[]): readonly ViewPart[] {
  const byItem = new Map(parts.map((part) => [part.item, part]));
  const byCall = new Map<string, ViewPart>();
  for (const part of parts) {
    for (const key of callKeys(part.item)) if (!byCall.has(key)) byCall.set(key, part);
  }
  return items.map((item): ViewPart => {
    const same = byItem.get(item);
    if (same !== undefined) return same;
    const source = callKeys(item)
      .map((key) => byCall.get(key))
      .find((part) => part !== undefined);
    if (source === undefined) return { seq: null, item, state: 'kept' };
    return { seq: source.seq, item, original: source.original ?? source.item, state: source.state };
  });
}

function callKeys(item: AgentItem): readonly string[] {
  if (item.kind === 'tool_call_batch') return item.calls.map((call) => `call ${call.callId}`);
  return item.kind === 'tool_result_batch' ? item.results.map((result) => `result ${result.callId}`) : [];
}

/**
 * The view with entries added behind it: equal to building it anew, but the prefix is reused and only what came is
 * looked at. Falls back to building where what came reaches into the prefix (repairs, observed messages, repeated ids).
 */
export function extendView(view: View, added: readonly TranscriptEntry[]): View {
  if (added.length === 0) return view;
  const input = { ...view.input, entries: [...view.input.entries, ...added] };
  if (!extensible(view, added)) return buildView(input);
  const parts = added.map(({ seq, item }): ViewPart => ({ seq, item, state: 'kept' }));
  return {
    revision: view.revision,
    items: [...view.items, ...added.map(({ item }) => item)],
    parts: [...view.parts, ...parts],
    repairs: view.repairs,
    input,
  };
}

function extensible(view: View, added: readonly TranscriptEntry[]): boolean {
  if (view.repairs.length > 0 || isObserved(view.items.at(-1) ?? NONE)) return false;
  const lastEdited = (view.input.edits ?? []).reduce((max, edit) => Math.max(max, edit.seq), 0);
  if (added.some(({ seq, item }) => seq <= lastEdited || isObserved(item))) return false;
  if (reusesIds(view, added)) return false;
  const tail = tailOfView(view);
  return validate([...tail, ...added.map(({ item }) => item)], { tail: 'closed' }).length === 0;
}

const NONE: AgentItem = { kind: 'user_message', schemaVersion: 1, origin: 'user', content: [] };

/** The last response and what follows it: nothing that is added can belong to anything before. */
function tailOfView({ items }: View): readonly AgentItem[] {
  let from = items.length;
  while (from > 0 && responseOf(items[from - 1] ?? NONE) === undefined) from -= 1;
  const id = responseOf(items[from - 1] ?? NONE)?.id;
  while (from > 0 && responseOf(items[from - 1] ?? NONE)?.id === id && id !== undefined) from -= 1;
  return items.slice(from);
}

/** Whether the added entries bring ids that the view has seen before: of responses, calls and the provider's own tools. */
function reusesIds(view: View, added: readonly TranscriptEntry[]): boolean {
  const ids = new Set(added.flatMap(({ item }) => idsOf(item)));
  // A response may have left the view altogether while the edit that unsigned it still holds.
  const unsigned = [...editIndex(view.input.edits ?? []).unsigned].some((id) => ids.has(`response ${id}`));
  return unsigned || view.items.some((item) => idsOf(item).some((id) => ids.has(id)));
}

function idsOf(item: AgentItem): readonly string[] {
  const response = responseOf(item);
  if (response === undefined) return [];
  const ids = [`response ${response.id}`];
  if (item.kind === 'tool_call_batch') ids.push(...item.calls.map((call) => `call ${call.callId}`));
  if (item.kind === 'builtin_tool_event') ids.push(`builtin ${item.nativeId}`);
  return ids;
}

/** Tokens of the view, system prompt and tools not included. */
export function viewTokens(view: View, estimator: TokenEstimator = 'fitted'): number {
  let tokens = 0;
  for (const item of view.items) tokens += knownItemTokens(item, estimator);
  return tokens;
}
