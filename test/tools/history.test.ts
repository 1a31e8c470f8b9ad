import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createReadTranscript } from '../../src/tools/history/read-transcript.ts';
import { createSearchTranscript } from '../../src/tools/history/search-transcript.ts';
import { runTool } from '../../src/tools/invoke.ts';
import type { Tool } from '../../src/tools/tool.ts';
import type { JsonObject } from '../../src/transcript/json.ts';
import { toolContext } from './context.ts';
import { calls, Past, results, said, user } from './past.ts';

async function answer(tool: Tool, args: JsonObject): Promise<string> {
  const { blocks } = await runTool(tool, args, toolContext());
  return blocks.map((block) => (block.type === 'text' ? block.text : '')).join('');
}

const reading = (past: Past) => (args: JsonObject) => answer(createReadTranscript(past), args);
const searching = (past: Past) => (args: JsonObject) => answer(createSearchTranscript(past), args);

describe('read_transcript', () => {
  const past = new Past([
    user('Where is it?'),
    calls(['c1', 'read_file'], ['c2', 'list_dir']),
    results(['c1', 'line one'], ['c2', 'a.ts']),
    said('It is in a.ts.'),
  ]);
  const read = reading(past);

  test('gives items with their numbers, calls and results with their tools', async () => {
    expect(await read({ seq: 1, count: 4 })).toBe(
      [
        '[#1] user message:\nWhere is it?',
        '[#2] your tool calls:\nread_file c1 {"of":"c1"}\nlist_dir c2 {"of":"c2"}',
        '[#3] tool results:\nread_file c1, ok:\nline one\nlist_dir c2, ok:\na.ts',
        '[#4] your message:\nIt is in a.ts.',
      ].join('\n'),
    );
  });

  test('a batch of results read by itself has the names of its tools, and the next item is told', async () => {
    expect(await read({ seq: 3 })).toBe(
      '[#3] tool results:\nread_file c1, ok:\nline one\nlist_dir c2, ok:\na.ts\n[next item: #4]',
    );
  });

  test.each<[JsonObject, RegExp]>([
    [{ seq: 5 }, /no item #5, and none after it/],
    [{ seq: 1, start: 99 }, /has 12 characters; there is none at 99/],
    [{ seq: 0 }, /input\.seq/],
    [{ seq: 1, count: 21 }, /input\.count/],
    [{}, /input\.seq: missing/],
  ])('%j is answered with what is wrong', async (args, reason) => {
    expect(await read(args)).toMatch(reason);
  });

  test('following the notes reads every item whole, cut outputs in full, never more than the bound at once', async () => {
    const text = fc.oneof(
      fc.string({ maxLength: 80 }),
      fc.string({ unit: 'grapheme', minLength: 3000, maxLength: 9000 }),
    );
    const item = fc.oneof(
      text.map((t) => said(t)),
      text.map((t) => user(t)),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(item, { minLength: 1, maxLength: 5 }),
        text,
        fc.integer({ min: 1, max: 20 }),
        async (items, whole, count) => {
          const mixed = new Past([...items, calls(['c', 'look']), results(['c', 'the cut …'])]);
          if (whole !== '') mixed.cut('c', whole);
          expect(await readAll(mixed, count)).toEqual([
            ...mixed.rows.slice(0, -1).map(({ item: one }) => expectedText(one)),
            `look c, ok:\n${whole === '' ? 'the cut …' : whole}`,
          ]);
        },
      ),
      { numRuns: 60 },
    );
  });
});

function expectedText(item: ReturnType<typeof said>): string {
  if (item.kind === 'tool_call_batch')
    return item.calls.map((c) => `${c.name} ${c.callId} ${JSON.stringify(c.arguments)}`).join('\n');
  const blocks = item.kind === 'user_message' || item.kind === 'assistant_message' ? item.content : [];
  return blocks.map((block) => (block.type === 'text' ? block.text : '')).join('\n');
}

/** Reads on as the notes say and puts the parts of each item together, by the lengths that the headings tell. */
async function readAll(past: Past, count: number): Promise<readonly string[]> {
  const texts: string[] = past.rows.map(() => '');
  let place: { seq: number; start?: number } | undefined = { seq: 1 };
  while (place !== undefined) {
    const page = await reading(past)({ ...place, count });
    expect(page.length).toBeLessThan(4000 + 21 * 80);
    const on: RegExpExecArray | null = /\n\[(?:read on with seq|next item:) #?(\d+)(?:, start (\d+))?\]$/.exec(page);
    collect(page.slice(0, on?.index ?? page.length), texts);
    place = on === null ? undefined : { seq: Number(on[1]), ...(on[2] === undefined ? {} : { start: Number(on[2]) }) };
  }
  return texts;
}

function collect(page: string, texts: string[]): void {
  const heading = /^\[#(\d+)\] [^\n]*?(?:, characters \d+ to \d+ of \d+)?:\n/gm;
  const starts = [...page.matchAll(heading)];
  for (const [i, match] of starts.entries()) {
    const end = starts[i + 1]?.index;
    const body = page.slice(match.index + match[0].length, end === undefined ? page.length : end - 1);
    const at = Number(match[1]) - 1;
    texts[at] = `${texts[at] ?? ''}${body}`;
  }
}

describe('search_transcript', () => {
  test('finds messages, calls and outputs, newest first, each with its place', async () => {
    const find = searching(
      new Past([
        user('the port is 7233'),
        calls(['c1', 'look']),
        results(['c1', 'port 7233 is open']),
        said('Port 7233.'),
      ]),
    );
    expect(await find({ query: 'port 7233' })).toMatch(
      /^\[#4\] your message: .*\n\[#3\] tool results, look c1: port 7233 is open\n\[#1\] user message: .*$/,
    );
    expect(await find({ query: 'port', before_seq: 3 })).toMatch(/^\[#1\][^\n]*$/);
  });

  test('what stands only in a whole output is found, though the view shows a cut', async () => {
    const past = new Past([user('go'), calls(['c1', 'look']), results(['c1', 'head … tail'])]);
    past.cut('c1', `${'x '.repeat(5000)}needle-42`);
    expect(await searching(past)({ query: 'needle-42' })).toMatch(/^\[#3\] tool results, look c1:/);
  });

  test('its own answers and those of read_transcript and recall do not crowd out what they repeat', async () => {
    const echoes = Array.from({ length: 200 }, (_, i) => {
      const name = ['search_transcript', 'read_transcript', 'recall'][i % 3] ?? '';
      return [calls([`needle-${i}`, name]), results([`needle-${i}`, 'needle'])];
    });
    const past = new Past([user('a needle'), ...echoes.flat()]);
    expect(await searching(past)({ query: 'needle' })).toMatch(/^\[#1\] user message: [^\n]*$/);
  });

  async function foundInAll(past: Past): Promise<readonly string[]> {
    const found: string[] = [];
    for (let args: JsonObject | undefined = { query: 'needle' }; args !== undefined; ) {
      const page = await searching(past)(args);
      found.push(...[...page.matchAll(/needle (b\d+-\d+)/g)].map(([, id]) => id ?? ''));
      const next: RegExpExecArray | null = /before_seq (\d+)\]$/.exec(page);
      args = next === null ? undefined : { query: 'needle', before_seq: Number(next[1]) };
    }
    return found;
  }

  test('going on with before_seq finds each output once, whatever stands between', async () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 49 }), { minLength: 1, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(sizes, async (batches) => {
        const ids = batches.map((size, b) => Array.from({ length: size }, (_, i) => `b${b}-${i}`));
        const items = ids.flatMap((own) => [
          calls(...own.map((id) => [id, 'look'] as const)),
          results(...own.map((id) => [id, `needle ${id}`] as const)),
        ]);
        expect([...(await foundInAll(new Past(items)))].sort()).toEqual(ids.flat().sort());
      }),
      // A batch that the store's page ends amid of.
      { numRuns: 40, examples: [[[49, 9]], [[3, 49, 5, 4]]] },
    );
  });

  test('going on with before_seq finds each message once', async () => {
    const ids = Array.from({ length: 130 }, (_, i) => `b0-${i}`);
    expect(await foundInAll(new Past(ids.map((id) => user(`needle ${id}`))))).toEqual(ids.reverse());
  });

  test.each<[JsonObject, RegExp]>([
    [{ query: 'nowhere' }, /nothing holds all of these words/],
    [{ query: '  ' }, /query is empty/],
    [{ query: '' }, /input\.query/],
  ])('%j is answered with what to do', async (args, reason) => {
    expect(await searching(new Past([user('hello')]))(args)).toMatch(reason);
  });
});
