import fc from 'fast-check';
import type { AgentItem, TranscriptEntry } from '../../src/transcript/items.ts';
import { toMessages } from '../../src/transcript/to-messages.ts';
import { buildView, type View, type ViewCheckpoint, type ViewInput } from '../../src/transcript/view.ts';
import type { ViewEdit } from '../../src/transcript/view-edits.ts';
import { legalTranscript } from '../transcript/arbitraries.ts';

/** A session as the store has it, with what maintenance passes have added to it. */
export interface Session {
  readonly entries: readonly TranscriptEntry[];
  readonly edits: readonly ViewEdit[];
  readonly checkpoint: ViewCheckpoint | undefined;
}

export const BUDGET = { budget: 600 };

/** Entries of a list of items: a new run with each user message, a new step with each response. */
export function entriesOf(items: readonly AgentItem[], from = 1): readonly TranscriptEntry[] {
  let run = 0;
  let step = 0;
  return items.map((item, at) => {
    if (item.kind === 'user_message' && item.origin === 'user') run += 1;
    if (item.kind === 'tool_result_batch') step += 1;
    return { seq: from + at, runId: `run-${from}-${run}`, step, item };
  });
}

export function sessionOf(items: readonly AgentItem[]): Session {
  return { entries: entriesOf(items), edits: [], checkpoint: undefined };
}

export function inputOf({ entries, edits, checkpoint }: Session): ViewInput {
  return { entries, edits, budget: BUDGET, ...(checkpoint === undefined ? {} : { checkpoint }) };
}

export function viewOf(session: Session): View {
  return buildView(inputOf(session));
}

/** What a request would send, message by message. */
export function wireOf(view: View): string {
  return toMessages(view.items)
    .map((message) => `${JSON.stringify(message)}\n`)
    .join('');
}

/** Items whose ids are told apart from those of other pieces of the same session. */
export function renamed(items: readonly AgentItem[], tag: string): readonly AgentItem[] {
  return items.map((item): AgentItem => {
    const base =
      'response' in item ? { ...item, response: { ...item.response, id: `${tag}${item.response.id}` } } : item;
    switch (base.kind) {
      case 'tool_call_batch':
        return { ...base, calls: base.calls.map((call) => ({ ...call, callId: `${tag}${call.callId}` })) };
      case 'tool_result_batch':
        return { ...base, results: base.results.map((result) => ({ ...result, callId: `${tag}${result.callId}` })) };
      case 'builtin_tool_event':
        return { ...base, nativeId: `${tag}${base.nativeId}` };
      default:
        return base;
    }
  });
}

/** Legal items without a summary of their own: those exist in views only. */
export const storedItems: fc.Arbitrary<readonly AgentItem[]> = legalTranscript.map((items) =>
  items.filter((item) => item.kind !== 'compaction_summary'),
);

/** The same, with results and texts long enough to be worth shortening. */
export const bulkyItems: fc.Arbitrary<readonly AgentItem[]> = fc
  .tuple(
    storedItems,
    fc.array(fc.constantFrom(0, 0, 0, 0, 3, 7, 12, 18), { minLength: 1, maxLength: 6 }),
    fc.constantFrom('word ', '漢字', '{"a":1}\n'),
  )
  .map(([items, sizes, unit]) =>
    items.map((item, at) => {
      const bulk = { type: 'text' as const, text: unit.repeat((sizes[at % sizes.length] ?? 0) ** 2) };
      if (item.kind === 'user_message') return { ...item, content: [...item.content, bulk] };
      if (item.kind === 'assistant_message') return { ...item, content: [...item.content, bulk] };
      if (item.kind === 'reasoning_summary') return { ...item, text: `${item.text}${bulk.text}` };
      if (item.kind !== 'tool_result_batch') return item;
      return { ...item, results: item.results.map((result) => ({ ...result, content: [...result.content, bulk] })) };
    }),
  );
