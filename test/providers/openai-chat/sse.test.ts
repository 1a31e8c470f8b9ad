import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createSseDecoder, type SseEvent } from '../../../src/providers/sse.ts';
import { watchedBytes } from '../../../src/providers/watched-bytes.ts';

const RUNS = { numRuns: Number(process.env.HOLDFAST_FC_RUNS ?? 1000) };

const line = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 8 }).map((text) => `data: ${text}`),
  fc.constantFrom(
    'data:',
    'data',
    'data:x',
    'data:  two',
    'event: error',
    'event:',
    'id: 7',
    'retry: 3',
    ': comment',
    ':',
    '',
    '',
    'other: y',
    'é: 🌍',
  ),
);
const body = fc.array(
  fc.tuple(
    line.map((text) => text.replaceAll(/[\r\n]/g, '')),
    fc.constantFrom('\n', '\r\n', '\r'),
  ),
  { maxLength: 12 },
);

/** The definition, over the whole text at once: lines, blocks, fields. */
function oracle(text: string): SseEvent[] {
  const lines = text.replaceAll('\r\n', '\n').replaceAll('\r', '\n').split('\n');
  const events: SseEvent[] = [];
  let block: string[] = [];
  for (const next of [...lines, '']) {
    if (next !== '') {
      block.push(next);
      continue;
    }
    const fields = block.filter((l) => !l.startsWith(':')).map((l) => /^([^:]*)(?:: ?)?(.*)$/s.exec(l) ?? ['', '', '']);
    const data = fields.filter(([, name]) => name === 'data').map(([, , value]) => value ?? '');
    const event = fields.filter(([, name]) => name === 'event').at(-1)?.[2] ?? '';
    if (data.length > 0) events.push({ event, data: data.join('\n') });
    block = [];
  }
  return events;
}

test('events are those of the whole text, however its bytes are cut', () => {
  fc.assert(
    fc.property(body, fc.array(fc.nat(), { maxLength: 8 }), (lines, cuts) => {
      const text = lines.flat().join('');
      const bytes = new TextEncoder().encode(text);
      const places = bytes.length === 0 ? [] : [...new Set(cuts.map((at) => at % bytes.length))].sort((a, b) => a - b);
      const decoder = createSseDecoder();
      const events = [0, ...places].flatMap((from, i) => decoder.push(bytes.slice(from, places[i] ?? bytes.length)));
      expect([...events, ...decoder.end()]).toEqual(oracle(text));
    }),
    RUNS,
  );
});

const stream = (...pieces: (string | Error | null)[]): ReadableStream<Uint8Array> =>
  new ReadableStream({
    pull(controller) {
      const next = pieces.shift();
      if (next === undefined) controller.close();
      else if (next instanceof Error) controller.error(next);
      // null: nothing more comes, and nothing ends.
      else if (next !== null) controller.enqueue(new TextEncoder().encode(next));
      else return new Promise(() => undefined);
      return undefined;
    },
  });

async function drain(body: ReadableStream<Uint8Array>, signal: AbortSignal, idleMs = 40): Promise<string> {
  let text = '';
  for await (const bytes of watchedBytes(body, { signal, idleMs: () => idleMs }))
    text += new TextDecoder().decode(bytes);
  return text;
}

test('bytes come through; a break, a silence and an abort are told apart', async () => {
  const open = new AbortController().signal;
  expect(await drain(stream('a', 'b'), open)).toBe('ab');
  await expect(drain(stream('a', new TypeError('terminated')), open)).rejects.toMatchObject({
    code: 'incomplete_stream',
  });
  await expect(drain(stream('a', null), open)).rejects.toMatchObject({ code: 'timeout' });
  const reason = new Error('enough');
  await expect(drain(stream(new TypeError('aborted')), AbortSignal.abort(reason))).rejects.toBe(reason);
  await expect(drain(stream('a'), AbortSignal.abort(reason))).rejects.toBe(reason);
});
