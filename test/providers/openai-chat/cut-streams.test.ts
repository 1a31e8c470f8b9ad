import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createAccumulator } from '../../../src/providers/accumulator.ts';
import { ProviderError } from '../../../src/providers/errors.ts';
import { DONE } from '../../../src/providers/json-frames.ts';
import { bodyParts } from '../../../src/providers/openai-chat/body.ts';
import { DIALECTS } from '../../../src/providers/openai-chat/dialects.ts';
import { createChatReader } from '../../../src/providers/openai-chat/from-wire.ts';
import { toolNames } from '../../../src/providers/tool-names.ts';
import type { AgentItem } from '../../../src/transcript/items.ts';
import { chunk, sse, tool, WEATHER } from './fake-server.ts';

// A cut is a whole answer read through decoder, reader and accumulator (no socket): cheap enough for thousands in CI.
const RUNS = { numRuns: Number(process.env.HOLDFAST_FC_RUNS ?? 1000) * 3 };
/** Whether every byte is cut at that can be, as in `npm run test:long`. */
const ALL_CUTS = process.env.HOLDFAST_ALL_CUTS !== undefined;

const TOOLS = [WEATHER, tool('run_command', { command: { type: 'string' } })];

interface Read {
  readonly items: readonly AgentItem[];
  readonly finished: boolean;
}

/** Items of an answer whose bytes come in these pieces; a broken one as far as it came. */
async function read(pieces: readonly Uint8Array[]): Promise<Read> {
  let n = 0;
  const accumulator = createAccumulator({
    response: { provider: 'p', api: 'openai-chat', model: 'm' },
    scope: { endpoint: 'e', account: 'a', model: 'm' },
    mintCallId: () => `call${++n}`,
    mintResponseId: () => 'r',
  });
  const reader = createChatReader(DIALECTS.generic, toolNames(TOOLS));
  async function* bytes(): AsyncGenerator<Uint8Array> {
    yield* pieces;
  }
  try {
    for await (const part of bodyParts(bytes(), new Headers())) {
      const events =
        'ending' in part ? [reader.end(part.ending)] : part.chunks.map((c) => (c === DONE ? [] : reader.push(c)));
      for (const event of events.flat()) accumulator.add(event);
    }
    return { items: accumulator.finish().items, finished: true };
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    return { items: accumulator.partial(), finished: false };
  }
}

/** Answers with everything that can go wrong at a border: wide characters, parallel calls, markup, thinking. */
const ANSWERS: readonly string[] = [
  sse(
    chunk({ role: 'assistant', content: '' }),
    chunk({ reasoning_content: 'Ich überlege 🌍 …' }),
    chunk({ content: '你好, "quoted" \\ and\nnew line' }),
    chunk({ content: ' 🌍 done.' }),
    chunk({}, 'stop'),
    { id: 'chatcmpl-1', choices: [], usage: { prompt_tokens: 5, completion_tokens: 9 } },
  ),
  sse(
    chunk({ tool_calls: [{ index: 0, id: 'a', type: 'function', function: { name: 'get_weather', arguments: '' } }] }),
    chunk({
      tool_calls: [{ index: 1, id: 'b', type: 'function', function: { name: 'run_command', arguments: '{"comm' } }],
    }),
    chunk({
      tool_calls: [
        { index: 0, function: { arguments: '{"city":"Zürich"}' } },
        { index: 1, function: { arguments: 'and":' } },
      ],
    }),
    chunk({ tool_calls: [{ index: 1, function: { arguments: '"ls"}' } }] }),
    chunk({}, 'tool_calls'),
  ),
  sse(
    chunk({ content: '<think>hm</think>Let me look.\n<tool_c' }),
    chunk({ content: 'all>\n{"name": "get_weather", "arguments": {"city": "Os' }),
    chunk({ content: 'lo"}}\n</tool_call>' }),
    chunk({}, 'stop'),
  ),
];

const answer = fc.constantFrom(...ANSWERS);
const encoder = new TextEncoder();

/** The same events with other line ends, comments, fields that mean nothing, and blank lines between. */
const dress = fc.record({
  lineEnd: fc.constantFrom('\n', '\r\n', '\r'),
  comment: fc.constantFrom('', ': keep-alive\n\n', ':\n', 'id: 7\n', 'retry: 3000\n', 'event: message\n'),
  space: fc.constantFrom('data: ', 'data:'),
  lastBlank: fc.boolean(),
});

function dressed(
  text: string,
  { lineEnd, comment, space, lastBlank }: { lineEnd: string; comment: string; space: string; lastBlank: boolean },
): Uint8Array {
  const body = text.replaceAll('data: ', `${comment}${space}`);
  return encoder.encode((lastBlank ? body : body.trimEnd()).replaceAll('\n', lineEnd));
}

/** Cuts bytes at any places. */
function cut(bytes: Uint8Array, at: readonly number[]): Uint8Array[] {
  const places = [...new Set(at.map((place) => place % bytes.length))].sort((a, b) => a - b);
  return [0, ...places].map((from, i) => bytes.slice(from, places[i] ?? bytes.length));
}

const WHOLE = new Map(
  await Promise.all(ANSWERS.map(async (text) => [text, await read([encoder.encode(text)])] as const)),
);

test('an answer means the same however its bytes are cut, whatever stands between its events', async () => {
  await fc.assert(
    fc.asyncProperty(answer, dress, fc.array(fc.nat(), { maxLength: 12 }), async (text, how, at) => {
      const got = await read(cut(dressed(text, how), at));
      if (!isDeepStrictEqual(got, WHOLE.get(text))) expect(got).toEqual(WHOLE.get(text));
    }),
    RUNS,
  );
});

test('an answer cut in two at every byte means the same, however it is dressed', async () => {
  const lineEnds = ALL_CUTS ? ['\n', '\r\n', '\r'] : ['\n'];
  const comments = ALL_CUTS ? ['', ': keep-alive\n\n', 'id: 7\n'] : [''];
  let cuts = 0;
  for (const text of ANSWERS) {
    for (const lineEnd of lineEnds) {
      for (const comment of comments) {
        const bytes = dressed(text, { lineEnd, comment, space: 'data:', lastBlank: true });
        for (let at = 1; at < bytes.length; at += 1) {
          const got = await read([bytes.slice(0, at), bytes.slice(at)]);
          if (!isDeepStrictEqual(got, WHOLE.get(text))) expect(got, `cut at ${at} of ${text}`).toEqual(WHOLE.get(text));
          cuts += 1;
        }
      }
    }
  }
  console.log(`openai-chat: ${cuts} ways of cutting a stream into pieces`);
  expect(cuts).toBeGreaterThan(ALL_CUTS ? 10_000 : 2000);
});

test('one byte at a time is no different', async () => {
  for (const text of ANSWERS) {
    const bytes = encoder.encode(text);
    expect(await read(Array.from(bytes, (byte) => Uint8Array.of(byte)))).toEqual(WHOLE.get(text));
  }
});

test('an answer that breaks off before its finish reason is never a success and has no call', async () => {
  let checked = 0;
  for (const text of ANSWERS) {
    const bytes = encoder.encode(text);
    // The finish reason's chunk is whole with its last brace.
    const terminal = encoder.encode(text.slice(0, text.search(/\n\n[^\n]*(?:usage|\[DONE\])/))).length;
    for (let length = 0; length < bytes.length; length += 1) {
      const { items, finished } = await read([bytes.slice(0, length)]);
      const right = finished
        ? length >= terminal && isDeepStrictEqual(items, WHOLE.get(text)?.items)
        : length < terminal && items.every((item) => item.kind === 'assistant_message' && item.interrupted === true);
      if (!right) expect.fail(`cut at ${length} of ${text}: finished ${finished}, ${JSON.stringify(items)}`);
      checked += 1;
    }
  }
  console.log(`openai-chat: ${checked} places where a stream was cut off`);
  expect(checked).toBeGreaterThan(2000);
});

test('a JSON answer that is cut is never a success', async () => {
  const body = JSON.stringify({
    id: '1',
    choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'Grüße' } }],
  });
  const bytes = encoder.encode(body);
  for (let length = 0; length < bytes.length; length += 1) {
    expect((await read([bytes.slice(0, length)])).finished).toBe(false);
  }
  expect((await read([bytes])).finished).toBe(true);
});
