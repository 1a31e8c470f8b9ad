import type { AgentItem, TranscriptEntry } from '../src/transcript/items.ts';
import { toMessages } from '../src/transcript/to-messages.ts';
import { buildView } from '../src/transcript/view.ts';
import { type BenchRow, rowOf } from './row.ts';

/** A long session: per four items a question, an answer with a call, the call and its result. About 500 bytes an item. */
export function longSession(count: number): readonly TranscriptEntry[] {
  return Array.from({ length: count }, (_, at): TranscriptEntry => {
    const turn = Math.floor(at / 4);
    return { seq: at + 1, runId: `run-${turn}`, step: 0, item: itemAt(at % 4, turn) };
  });
}

const TEXT = 'The parser reads one record, checks its header and hands it on; nothing is kept in memory. '.repeat(5);

function itemAt(place: number, turn: number): AgentItem {
  const response = { id: `response-${turn}`, provider: 'bench', model: 'model', api: 'openai-chat' } as const;
  const text = `${TEXT}(${turn})`;
  if (place === 0) return { kind: 'user_message', schemaVersion: 1, origin: 'user', content: [{ type: 'text', text }] };
  if (place === 1) return { kind: 'assistant_message', schemaVersion: 1, response, content: [{ type: 'text', text }] };
  const callId = `call-${turn}`;
  if (place === 2) {
    const call = { callId, nativeId: `native-${turn}`, name: 'read_file', arguments: { path: `src/${turn}.ts`, text } };
    return { kind: 'tool_call_batch', schemaVersion: 1, response, calls: [call] };
  }
  return {
    kind: 'tool_result_batch',
    schemaVersion: 1,
    results: [{ callId, status: 'ok', content: [{ type: 'text', text }] }],
  };
}

/** View and request from entries, nothing reused; milliseconds. */
function viewMs(entries: readonly TranscriptEntry[]): number {
  const from = performance.now();
  toMessages(buildView({ entries, budget: { budget: 1_000_000 } }).items);
  return performance.now() - from;
}

function stringifyMs(entries: readonly TranscriptEntry[]): number {
  const messages = toMessages(entries.map(({ item }) => item));
  const from = performance.now();
  JSON.stringify(messages);
  return performance.now() - from;
}

/** Rounds thrown away while the engine still compiles, and rounds counted; the two sides take turns. */
const WARM_UP = 5;
const ROUNDS = 15;

/** What it costs to make a request out of a long session, against the time that JSON.stringify takes for it. */
export async function* run(): AsyncGenerator<BenchRow> {
  const small = longSession(10_000);
  const large = longSession(100_000);
  const ratios: number[] = [];
  const growth: number[] = [];
  const smalls: number[] = [];
  for (let round = 0; round < WARM_UP + ROUNDS; round += 1) {
    const made = Math.min(viewMs(small), viewMs(small));
    const written = Math.min(stringifyMs(small), stringifyMs(small));
    if (round < WARM_UP) continue;
    ratios.push(made / written);
    smalls.push(made);
  }
  for (let round = 0; round < ROUNDS; round += 1) growth.push(viewMs(large) / viewMs(small));
  yield rowOf('view_10k_ms', 'ms', smalls);
  yield rowOf('view_over_stringify', 'ratio', ratios);
  yield rowOf('view_100k_over_10k', 'ratio', growth);
}
