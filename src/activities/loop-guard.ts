import type { Store } from '../store/store.ts';
import { argumentsHash } from '../tools/arguments-hash.ts';
import type { AgentItem, ToolCallBatch, ToolResult, TranscriptEntry } from '../transcript/items.ts';
import type { View } from '../transcript/view.ts';
import type { AgentSpec } from './agents.ts';
import { LOOP_TEXT } from './control-message.ts';

/** The model is told when the same call has had the same result this often in a row. */
export const WARN_AT = 3;
/** The run ends before the model is asked again. */
export const END_AT = 5;

/** How often the latest calls of a run were repeated. */
export interface Repeats {
  /** Batches in a row, the latest included, that asked for the same calls and got the same results; 0: there is none. */
  readonly count: number;
  /** What the latest batch asked for; `undefined` for none, or one of pollable tools only. */
  readonly calls: string | undefined;
  /** Whether the model was told so since they began. */
  readonly warned: boolean;
}

type Pollable = (tool: string) => boolean;

/** Tools that are asked again and again for good reason. */
export function pollableOf(agent: AgentSpec | undefined): Pollable {
  return (name) => agent?.tools.get(name)?.pollable === true;
}

/**
 * Reads the run's answered batches from the end. Calls of one batch cannot know each other's results, so a batch counts
 * once, whatever the order of its calls; calls of pollable tools in it do not count. Another batch or a person's message
 * in between begins anew.
 */
export function repeatsOf(entries: readonly TranscriptEntry[], runId: string, pollable: Pollable): Repeats {
  let results: readonly ToolResult[] | undefined;
  let latest: { readonly calls: string; readonly answered: string } | undefined;
  let count = 0;
  // A warning is of the batches before it.
  let [warning, warned] = [false, false];
  for (const { item, runId: of } of entries.toReversed()) {
    if (of !== runId || isSaid(item)) break;
    if (isWarning(item)) warning = true;
    if (item.kind === 'tool_result_batch') results = item.results;
    if (item.kind !== 'tool_call_batch' || results === undefined) continue;
    const calls = callsOf(item, pollable);
    if (calls === undefined) break;
    const answered = answeredOf(item, results, pollable);
    if (latest !== undefined && latest.answered !== answered) break;
    latest = { calls, answered };
    count += 1;
    warned ||= warning;
    results = undefined;
  }
  return { count, calls: latest?.calls, warned };
}

/** What a batch asks for, whatever the order; `undefined` when only pollable tools. */
export function callsOf({ calls }: ToolCallBatch, pollable: Pollable): string | undefined {
  const hashes = calls.filter(({ name }) => !pollable(name)).map((call) => argumentsHash(call.name, call.arguments));
  return hashes.length === 0 ? undefined : JSON.stringify([...new Set(hashes)].sort());
}

function answeredOf({ calls }: ToolCallBatch, results: readonly ToolResult[], pollable: Pollable): string {
  const answers = new Map(results.map((result) => [result.callId, result]));
  const parts = calls
    .filter(({ name }) => !pollable(name))
    .map((call) => {
      const { status, content, fullOutput } = answers.get(call.callId) ?? {};
      return JSON.stringify([argumentsHash(call.name, call.arguments), status, content, fullOutput]);
    });
  return JSON.stringify([...new Set(parts)].sort());
}

function isSaid(item: AgentItem): boolean {
  return item.kind === 'user_message' && (item.origin === 'user' || item.origin === 'steer');
}

function isWarning(item: AgentItem): boolean {
  if (item.kind !== 'user_message' || item.origin !== 'control') return false;
  return item.content.some((block) => block.type === 'text' && block.text === LOOP_TEXT);
}

/** Entries that hold {@link END_AT} batches, as far as anybody writes so many messages in between. */
const LAST_ITEMS = 100;

/** As the store has the latest entries: a view may show cut results, and after a compaction begins too late. */
export async function storedRepeats(
  store: Pick<Store, 'entries'>,
  { sessionId, runId, head }: { readonly sessionId: string; readonly runId: string; readonly head: number },
  pollable: Pollable,
): Promise<Repeats> {
  const entries = await store.entries(sessionId, { afterSeq: Math.max(0, head - LAST_ITEMS) });
  return repeatsOf(
    entries.filter(({ seq }) => seq <= head),
    runId,
    pollable,
  );
}

/** The same from what a step has read anyway; the store is asked only after a compaction. */
export function viewRepeats(
  store: Pick<Store, 'entries'>,
  place: { readonly sessionId: string; readonly runId: string; readonly head: number },
  { input }: View,
  pollable: Pollable,
): Promise<Repeats> | Repeats {
  const own = input.entries.filter(({ runId, item }) => runId === place.runId && item.kind === 'tool_call_batch');
  if (input.checkpoint !== undefined && own.length < END_AT) return storedRepeats(store, place, pollable);
  return repeatsOf(input.entries, place.runId, pollable);
}
