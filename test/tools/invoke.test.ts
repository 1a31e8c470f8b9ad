import { Readable } from 'node:stream';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { defineTool } from '../../src/tools/define-tool.ts';
import { type Invocation, runTool } from '../../src/tools/invoke.ts';
import { MAX_OUTPUT_CHARS } from '../../src/tools/output-block.ts';
import { safeJson } from '../../src/tools/safe-json.ts';
import { toolContext } from './context.ts';

const RUNS = Number(process.env.HOLDFAST_FC_RUNS ?? 1000);

const unhandled: unknown[] = [];
const onUnhandled = (reason: unknown): void => void unhandled.push(reason);
beforeAll(() => void process.on('unhandledRejection', onUnhandled));
afterAll(() => {
  process.off('unhandledRejection', onUnhandled);
  expect(unhandled).toEqual([]);
});

const returning = (make: () => unknown) => defineTool({ name: 'probe', description: 'd', execute: make });
const run = (make: () => unknown): Promise<Invocation> => runTool(returning(make), {}, toolContext());
function text(result: Invocation): string {
  return result.blocks.map((block) => (block.type === 'text' ? block.text : `<${block.type}>`)).join('|');
}

test.each<[string, () => unknown, RegExp]>([
  [
    'a text',
    () => {
      throw 'plain text';
    },
    /^plain text$/,
  ],
  [
    'an empty text',
    () => {
      throw ' ';
    },
    /empty text/,
  ],
  [
    'undefined',
    () => {
      throw undefined;
    },
    /threw undefined/,
  ],
  [
    'null',
    () => {
      throw null;
    },
    /threw null/,
  ],
  [
    'an object with a message',
    () => {
      throw { code: 7, message: 'obj' };
    },
    /^obj .*"code":7/,
  ],
  ['an object without prototype', () => Promise.reject(Object.create(null)), /an empty object/],
  [
    'an error without a message',
    () => {
      throw new RangeError();
    },
    /RangeError/,
  ],
  [
    'an error with a cause',
    () => {
      throw new Error('outer', { cause: new TypeError('inner') });
    },
    /outer \(TypeError: inner\)/,
  ],
  [
    'a value that cannot be read',
    () => {
      throw new Proxy(
        {},
        {
          ownKeys: () => {
            throw new Error('no');
          },
          get: () => {
            throw new Error('no');
          },
        },
      );
    },
    /./,
  ],
  [
    'an error that is its own cause',
    () => {
      const e = new Error('loop');
      e.cause = e;
      throw e;
    },
    /^loop/,
  ],
])('a tool that throws %s gives an error the model can read', async (_, make, expected) => {
  const result = await run(make);
  expect(result).toMatchObject({ status: 'error', isError: true, executed: true });
  expect(text(result)).toMatch(expected);
});

const circular: Record<string, unknown> = { a: 1 };
circular.self = circular;

test.each<[string, () => unknown, string]>([
  ['undefined', () => undefined, '(no output)'],
  ['an empty text', () => '', '(no output)'],
  ['null', () => null, 'null'],
  ['undefined fields', () => ({ a: undefined, b: 1 }), '{"b":1}'],
  ['a function', () => () => 1, '(no output: the tool returned a function)'],
  ['a symbol', () => Symbol('x'), '(no output: the tool returned a symbol)'],
  ['a big integer', () => 5n, '5'],
  ['big integers inside', () => ({ n: 5n }), '{"n":"5"}'],
  ['a cycle', () => circular, '{"a":1,"self":"[circular]"}'],
  ['a map and a set', () => ({ m: new Map([['k', 1]]), s: new Set([1]) }), '{"m":{"k":1},"s":[1]}'],
  ['a date', () => new Date(0), '"1970-01-01T00:00:00.000Z"'],
  ['bytes of text', () => Buffer.from('häl'), 'häl'],
  ['bytes inside', () => ({ b: Buffer.from('abc') }), '{"b":"[3 bytes]"}'],
  ['no bytes', () => Buffer.alloc(0), '(no output: 0 bytes)'],
  ['a text blob', () => new Blob(['hi'], { type: 'text/plain' }), 'hi'],
  ['a lone surrogate', () => 'a\ud800b', 'a\ufffdb'],
  [
    'a throwing getter',
    () => ({
      get a() {
        throw new Error('no');
      },
    }),
    '"[unreadable: no]"',
  ],
  ['MCP text', () => ({ content: [{ type: 'text', text: 'hello' }] }), 'hello'],
  ['MCP structure', () => ({ content: [], structuredContent: { a: 1 } }), '{"a":1}'],
  [
    'an unknown MCP block',
    () => ({ content: [{ type: 'resource_link', uri: 'x:y' }] }),
    '{"type":"resource_link","uri":"x:y"}',
  ],
  [
    'an embedded resource',
    () => ({ content: [{ type: 'resource', resource: { uri: 'x:y', text: 'body' } }] }),
    'x:y\nbody',
  ],
  [
    'data that happen to have content',
    () => ({ title: 't', content: [{ type: 'text', text: 'x' }] }),
    '{"title":"t","content":[{"type":"text","text":"x"}]}',
  ],
  ['content that is no block list', () => ({ content: 'text' }), '{"content":"text"}'],
])('a tool that returns %s gives a text', async (_, make, expected) => {
  const result = await run(make);
  expect(result.status).toBe('ok');
  expect(text(result)).toContain(expected);
});

test.each<[string, () => unknown]>([
  ['a web stream', () => new ReadableStream()],
  ['a node stream', () => Readable.from(['a'])],
  ['a response', () => new Response('x')],
  [
    'a generator',
    function* () {
      yield 1;
    },
  ],
  [
    'an async generator',
    async function* () {
      yield 1;
    },
  ],
  ['an error', () => new Error('returned')],
  ['an MCP error', () => ({ isError: true, content: [{ type: 'text', text: 'permission denied' }] })],
  ['an MCP error without a text', () => ({ isError: true, content: [] })],
  ['an error flag without blocks', () => ({ isError: true, why: 'x' })],
])('a tool that returns %s gives an error', async (_, make) => {
  const result = await run(make);
  expect(result).toMatchObject({ status: 'error', isError: true });
  expect(text(result)).toMatch(/\w/);
});

test('bytes that are no text become media with their type', async () => {
  const png = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 255]);
  expect((await run(() => png)).blocks).toEqual([
    { type: 'image', mediaType: 'image/png', base64: png.toString('base64') },
  ]);
  expect((await run(() => new File([png], 'a.bin', { type: 'application/x-thing' }))).blocks).toEqual([
    { type: 'file', mediaType: 'application/x-thing', base64: png.toString('base64'), name: 'a.bin' },
  ]);
  const mcp = await run(() => ({ content: [{ type: 'image', data: 'AAAA', mimeType: 'image/png' }] }));
  expect(mcp.blocks).toEqual([{ type: 'image', mediaType: 'image/png', base64: 'AAAA' }]);
});

test('outputs beyond the limit keep head and tail, and JSON of endless things ends', async () => {
  const huge = `HEAD${'x'.repeat(MAX_OUTPUT_CHARS)}TAIL`;
  const shown = text(await run(() => huge));
  expect(shown.length).toBeLessThan(MAX_OUTPUT_CHARS + 100);
  expect(shown.startsWith('HEAD') && shown.endsWith('TAIL')).toBe(true);
  const endless = new Array(1_000_000).fill({ a: 'b'.repeat(1000) });
  const { text: json, cut } = safeJson(endless, 100_000);
  expect([json.length <= 100_000, cut]).toEqual([true, true]);
});

test('what is JSON is written as JSON.stringify writes it', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(safeJson(value, 1_000_000).text).toBe(JSON.stringify(value));
    }),
    { numRuns: RUNS },
  );
});

test('any value at all ends in a result', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.anything({
        withBigInt: true,
        withDate: true,
        withMap: true,
        withNullPrototype: true,
        withSet: true,
        withTypedArray: true,
        withSparseArray: true,
        withObjectString: true,
      }),
      fc.boolean(),
      async (value, throws) => {
        const result = await run(() => {
          if (throws) throw value;
          return value;
        });
        expect(result.blocks.length).toBeGreaterThan(0);
        for (const block of result.blocks) {
          if (block.type === 'text') expect(block.text.trim()).not.toBe('');
        }
        expect(() => JSON.stringify(result)).not.toThrow();
      },
    ),
    { numRuns: RUNS },
  );
});

test('arguments that do not fit never reach the tool', async () => {
  let executed = 0;
  const tool = defineTool({
    name: 'get_weather',
    description: 'd',
    input: z.object({ city: z.string() }),
    execute: () => {
      executed += 1;
      return 'sun';
    },
  });
  const bad = await runTool(tool, { city: 5 }, toolContext());
  expect(bad).toMatchObject({ status: 'error', executed: false });
  expect(text(bad)).toContain('input.city: expected string, got number');
  expect(executed).toBe(0);
  expect(await runTool(tool, { city: 'Oslo', extra: 1 }, toolContext())).toMatchObject({
    status: 'ok',
    executed: true,
  });
});

test('a tool that never settles is aborted, left behind, and said to have unknown effects', async () => {
  let seen: AbortSignal | undefined;
  const tool = defineTool({
    name: 'hang',
    description: 'd',
    execute: (_, { signal }) => {
      seen = signal;
      return new Promise(() => undefined);
    },
  });
  const result = await runTool(tool, {}, toolContext(), { timeoutMs: 20, graceMs: 20 });
  expect(result).toMatchObject({ status: 'timed_out', isError: true, executed: true });
  expect(text(result)).toMatch(/may or may not have had its effects/);
  expect(seen?.aborted).toBe(true);
});

test('what a stopped tool still returns within its grace is kept', async () => {
  const stop = new AbortController();
  const tool = defineTool({
    name: 'slow',
    description: 'd',
    annotations: { readOnlyHint: true },
    execute: (_, { signal }) =>
      new Promise((resolve) => {
        signal.addEventListener('abort', () => resolve('half of it'));
        stop.abort(new Error('user'));
      }),
  });
  const result = await runTool(tool, {}, toolContext({ signal: stop.signal }));
  expect(result.status).toBe('cancelled');
  expect(text(result)).toContain('half of it');
  expect(text(result)).not.toContain('effects');
});

test('a late rejection of a tool that was left behind bothers nobody', async () => {
  let reject: (reason: unknown) => void = () => undefined;
  const tool = returning(
    () =>
      new Promise((_, no) => {
        reject = no;
      }),
  );
  await runTool(tool, {}, toolContext(), { timeoutMs: 5, graceMs: 5 });
  reject(new Error('too late'));
  await new Promise((resolve) => setImmediate(resolve));
  expect(unhandled).toEqual([]);
});

test('a call that is cancelled before it starts does not start', async () => {
  let executed = 0;
  const result = await runTool(
    returning(() => {
      executed += 1;
    }),
    {},
    toolContext({ signal: AbortSignal.abort() }),
  );
  expect(result).toMatchObject({ status: 'aborted', executed: false });
  expect(executed).toBe(0);
});
