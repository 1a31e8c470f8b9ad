import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { sessionPages } from '../../src/client/session-pages.ts';
import { openStore } from '../../src/store/open-store.ts';
import type { Store } from '../../src/store/store.ts';
import { explainView } from '../../src/transcript/explain-view.ts';
import { transcriptHeader, transcriptLines } from '../../src/transcript/interchange/holdfast-jsonl.ts';
import type { AgentItem, TranscriptEntry } from '../../src/transcript/items.ts';
import { buildView } from '../../src/transcript/view.ts';

// One part of the work on a large session, then its peak memory as one JSON line: PART FOLDER STEPS.

const [part = '', folder = '', steps = '0'] = process.argv.slice(2);
const OUTPUT_BYTES = 20_000;

function* itemsOf(count: number): Generator<AgentItem> {
  yield { kind: 'user_message', schemaVersion: 1, origin: 'user', content: [{ type: 'text', text: 'Do the work.' }] };
  for (let step = 0; step < count; step++) {
    const response = { id: `r${step}`, provider: 'fake', model: 'script', api: 'openai-chat' } as const;
    const callId = `call_${step}`;
    const text = `${step} `.padEnd(OUTPUT_BYTES, 'some words of a tool that reads files; ');
    yield {
      kind: 'assistant_message',
      schemaVersion: 1,
      response,
      content: [{ type: 'text', text: `step ${step}`, part: 0 }],
    };
    yield {
      kind: 'tool_call_batch',
      schemaVersion: 1,
      response,
      calls: [{ callId, nativeId: callId, name: 'work', arguments: { step }, part: 1 }],
    };
    yield {
      kind: 'tool_result_batch',
      schemaVersion: 1,
      results: [{ callId, status: 'ok', content: [{ type: 'text', text }] }],
    };
  }
}

async function all(store: Store): Promise<TranscriptEntry[]> {
  const entries: TranscriptEntry[] = [];
  for await (const page of sessionPages(store, 'large')) entries.push(...page);
  return entries;
}

const PARTS: Readonly<Record<string, (store: Store) => Promise<number>>> = {
  async write(store) {
    const { head } = await store.importSession({ sessionId: 'large', runId: 'r', items: [...itemsOf(Number(steps))] });
    return head;
  },
  async read(store) {
    let read = 0;
    for await (const page of sessionPages(store, 'large')) read += page.length;
    return read;
  },
  async view(store) {
    const view = buildView({ entries: await all(store), budget: { budget: 100_000 } });
    return explainView(view).items.length;
  },
  async export(store) {
    let written = 0;
    async function* lines(): AsyncGenerator<string> {
      yield transcriptHeader({ sessionId: 'large' });
      for await (const page of sessionPages(store, 'large')) {
        written += page.length;
        yield transcriptLines(page);
      }
    }
    await pipeline(Readable.from(lines()), createWriteStream(join(folder, 'export.jsonl')));
    return written;
  },
};

const store = await openStore(join(folder, 'store.db'));
const done = await PARTS[part]?.(store);
await store.close();
process.stdout.write(`${JSON.stringify({ done, rssMb: process.resourceUsage().maxRSS / 1024 })}\n`);
