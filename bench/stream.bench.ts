import OpenAI from 'openai';
import { createAccumulator } from '../src/providers/accumulator.ts';
import { openaiChat } from '../src/providers/openai-chat/adapter.ts';
import type { MessageRequest } from '../src/transcript/message.ts';
import { type BenchRow, rowOf } from './row.ts';

const DELTAS = 10_000;
const PAIRS = 15;
const ENDPOINT = 'https://api.example.test/v1';

/** An answer of {@link DELTAS} text deltas, each a read of its own, from memory: decoding and nothing else is measured. */
function answer(): Response {
  const encoder = new TextEncoder();
  const chunk = (delta: object, finish: string | null): string =>
    `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1750000000, model: 'm', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
  let sent = 0;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (sent < DELTAS) controller.enqueue(encoder.encode(chunk({ content: ` word${sent % 997}` }, null)));
      else {
        controller.enqueue(encoder.encode(`${chunk({}, 'stop')}data: [DONE]\n\n`));
        controller.close();
      }
      sent += 1;
    },
  });
  return new Response(body, { status: 200, headers: { 'content-type': 'text/event-stream' } });
}

/** Reading a long answer through the adapter and into items, against the vendor's client alone reading the same bytes. */
export async function* run(): AsyncIterable<BenchRow> {
  const client = new OpenAI({ apiKey: 'unused', baseURL: ENDPOINT, maxRetries: 0, fetch: async () => answer() });
  const provider = openaiChat({ id: 'p', client, dialect: 'generic', endpoint: ENDPOINT, account: 'a' });
  const request: MessageRequest = {
    model: 'm',
    tools: [{ name: 'search', description: 'search', inputSchema: { type: 'object', properties: {} } }],
    messages: [{ role: 'user', content: [{ type: 'text', text: 'Hello?' }] }],
  };

  const vendor = async (): Promise<number> => {
    const started = performance.now();
    const stream = await client.chat.completions.create({ model: 'm', messages: [], stream: true });
    let text = '';
    for await (const part of stream) text += part.choices[0]?.delta.content ?? '';
    if (text.length < DELTAS) throw new Error('the answer was not read');
    return performance.now() - started;
  };
  const ours = async (): Promise<number> => {
    const started = performance.now();
    let n = 0;
    const accumulator = createAccumulator({
      response: { provider: 'p', api: 'openai-chat', model: 'm' },
      scope: provider.scope('m'),
      mintCallId: () => `call${++n}`,
    });
    for await (const event of provider.stream(request, { signal: new AbortController().signal }))
      accumulator.add(event);
    if (accumulator.finish().text.length < DELTAS) throw new Error('the answer was not read');
    return performance.now() - started;
  };

  for (let warm = 0; warm < 3; warm += 1) {
    await vendor();
    await ours();
  }
  const ratios: number[] = [];
  const spent: number[] = [];
  for (let pair = 0; pair < PAIRS; pair += 1) {
    const alone = await vendor();
    const adapted = await ours();
    ratios.push(adapted / alone);
    spent.push((adapted * 1000) / DELTAS);
  }
  yield rowOf('stream_overhead_ratio', '× vendor client', ratios);
  yield rowOf('stream_us_per_delta', 'µs', spent);
}
