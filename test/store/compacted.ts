import fc from 'fast-check';
import type { CheckpointRow } from '../../src/store/compaction-port.ts';
import type { Store } from '../../src/store/store.ts';
import { groupsOf } from '../../src/transcript/groups.ts';
import type { AgentItem, TranscriptEntry } from '../../src/transcript/items.ts';
import { responseOf } from '../../src/transcript/response-runs.ts';
import type { ViewEdit } from '../../src/transcript/view-edits.ts';
import { RUNS } from '../transcript/arbitraries.ts';
import { bulkyItems } from '../view/sessions.ts';
import { Execution } from './scenario.ts';

/** What happens to a session's view in one go: edits of some items, then perhaps a cut. Numbers choose among what there is. */
export interface Pass {
  readonly edited: readonly number[];
  readonly cut: number | null;
  readonly protects: readonly number[];
}

/** Items of a session and what happens to its view. */
export interface Life {
  readonly items: readonly AgentItem[];
  readonly passes: readonly Pass[];
}

const choice = fc.nat(1_000);

export const life: fc.Arbitrary<Life> = fc.record({
  items: bulkyItems.filter((items) => items.length > 0),
  passes: fc.array(
    fc.record({
      edited: fc.array(choice, { maxLength: 4 }),
      cut: fc.option(choice, { nil: null, freq: 3 }),
      protects: fc.array(choice, { maxLength: 2 }),
    }),
    { maxLength: 5 },
  ),
});

/** Lives that a property looks at. Each is some dozens of transactions, with a commit of their own: a part of the usual number. */
export const LIVES = { sqlite: Math.ceil(RUNS / 10), postgres: Math.ceil(RUNS / 50) };

/** A session that was lived: every revision that its view had, oldest first. */
export interface Lived {
  readonly entries: readonly TranscriptEntry[];
  readonly revisions: readonly string[];
}

/** Lives a life in a new session of the store. */
export async function live(store: Store, sessionId: string, { items, passes }: Life): Promise<Lived> {
  await store.importSession({ sessionId, runId: `import ${sessionId}`, items });
  const run = new Execution(store, { sessionId, runId: `run ${sessionId}`, owner: sessionId });
  await run.openWithout();
  const entries = await store.entries(sessionId);
  const revisions = [await store.viewRevision(sessionId)];
  for (const [at, { edited, cut, protects }] of passes.entries()) {
    const compactionId = `${sessionId} k${at}`;
    const edits = edited.flatMap((chosen) => editOf(entries[chosen % entries.length]));
    await run.phase(compactionId, 'plan', { edits, revision: revisions.at(-1) ?? '' });
    if (edits.length > 0) revisions.push(await store.viewRevision(sessionId));
    if (cut === null) continue;
    await cutAt(run, compactionId, entries, cut, protects);
    revisions.push(await store.viewRevision(sessionId));
  }
  return { entries, revisions };
}

/** A checkpoint at the start of a group, or behind the last, not before that of an earlier one. */
async function cutAt(
  run: Execution,
  compactionId: string,
  entries: readonly TranscriptEntry[],
  cut: number,
  protects: readonly number[],
): Promise<void> {
  const before = (await run.store.checkpoint(run.sessionId))?.firstKeptSeq ?? 1;
  const starts = [...groupsOf(entries.map(({ item }) => item)).map(({ start }) => start + 1), entries.length + 1];
  const possible = starts.filter((seq) => seq >= before);
  const firstKeptSeq = possible[cut % possible.length] ?? before;
  const messages = entries.filter(({ seq, item }) => seq < firstKeptSeq && item.kind === 'user_message');
  const chosen = protects.flatMap((number) => messages[number % Math.max(1, messages.length)]?.seq ?? []);
  const protectedSeqs = [...new Set(chosen)].toSorted((left, right) => left - right);
  await run.checkpoint(compactionId, firstKeptSeq, { protectedSeqs });
}

/** An edit as a maintenance pass could make it, where the item allows one. */
function editOf(entry: TranscriptEntry | undefined): readonly ViewEdit[] {
  if (entry === undefined) return [];
  const { seq, item } = entry;
  const base = { schemaVersion: 1, seq, reason: 'microcompact', tokensBefore: 9, tokensAfter: 1 } as const;
  const content = [{ type: 'text', text: `[cut ${seq}]` }] as const;
  switch (item.kind) {
    case 'user_message':
      return [{ ...base, action: { type: 'set_content', content } }];
    case 'assistant_message':
      return [{ ...base, action: { type: 'set_text', text: `[cut ${seq}]` } }];
    case 'reasoning_summary':
      return [{ ...base, action: { type: 'remove_reasoning', responseId: responseOf(item)?.id ?? '' } }];
    case 'tool_result_batch':
      return item.results.map(({ callId }) => ({ ...base, callId, action: { type: 'set_content', content } }));
    default:
      return [];
  }
}

/** The checkpoint that a revision names. */
export async function checkpointOfRevision(
  store: Store,
  sessionId: string,
  revision: string,
): Promise<CheckpointRow | undefined> {
  return (await store.checkpoints(sessionId)).find(({ compactionId }) => revision.startsWith(`${compactionId}/`));
}
