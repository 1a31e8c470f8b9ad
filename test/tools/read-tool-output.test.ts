import { expect, test } from 'vitest';
import { runTool } from '../../src/tools/invoke.ts';
import { createReadToolOutput } from '../../src/tools/read-tool-output.ts';
import type { JsonObject } from '../../src/transcript/json.ts';
import { toolContext } from './context.ts';

const OUTPUT = Array.from({ length: 100_000 }, (_, i) => String(i % 10)).join('');
const tool = createReadToolOutput(async (sessionId, callId, { start, end }) =>
  sessionId === 'session' && callId === 'c1' ? { text: OUTPUT.slice(start, end), total: OUTPUT.length } : undefined,
);
async function said(args: JsonObject): Promise<string> {
  const { blocks } = await runTool(tool, args, toolContext());
  return blocks.map((block) => (block.type === 'text' ? block.text : '')).join('');
}

test('any range of a kept output can be read, and the notes lead through all of it', async () => {
  let read = '';
  for (let start = 0; start < OUTPUT.length; ) {
    const part = await said({ callId: 'c1', start, end: start + 70_000 });
    const [note, text] = part.split('\n');
    read += text;
    const next = /read on with start (\d+)/.exec(note ?? '')?.[1];
    start = next === undefined ? OUTPUT.length : Number(next);
  }
  expect(read).toBe(OUTPUT);
});

test.each<[JsonObject, RegExp]>([
  [{ callId: 'other' }, /no longer output kept/],
  [{ callId: 'c1', start: 100_000 }, /has 100000 characters/],
  [{ callId: 'c1', start: 5, end: 5 }, /must be greater/],
  [{ callId: 'c1', start: -1 }, /input\.start/],
  [{}, /input\.callId: missing/],
])('%j is answered with what is wrong', async (args, reason) => {
  expect(await said(args)).toMatch(reason);
});
