import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import { LOOP_TEXT } from '../../src/activities/control-message.ts';
import { defineTool } from '../../src/tools/define-tool.ts';
import type { Tool } from '../../src/tools/tool.ts';
import { type Harness, startHarness } from './harness.ts';
import { lastUserText } from './scripts.ts';

let calls = 0;
const tool = (name: string, result: () => string, pollable = false): Tool =>
  defineTool({
    name,
    description: 'Looks.',
    input: z.object({ at: z.string() }),
    annotations: { readOnlyHint: true },
    pollable,
    execute: () => {
      calls += 1;
      return result();
    },
  });

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness({
    tools: [tool('same', () => 'nothing'), tool('other', () => String(calls)), tool('poll', () => 'not yet', true)],
    // Asks for the tool that the first message names, eight times.
    answer: (request) => {
      const messages: { role: string; content: unknown }[] = request.body.messages;
      const name = String(messages.find(({ role }) => role === 'user')?.content);
      const turn = messages.filter(({ role }) => role === 'assistant').length;
      if (name === 'obedient' && lastUserText(request) === LOOP_TEXT) return { text: 'stopped' };
      if (turn >= 8) return { text: 'done' };
      return { calls: [{ name: name === 'obedient' ? 'same' : name, args: { at: 'x' } }] };
    },
  });
});
afterAll(() => harness.stop());
beforeEach(() => {
  calls = 0;
});

async function ran(text: string) {
  const { event } = await harness.client.result(await harness.client.send({ sessionId: text, text }));
  const items = (await harness.client.transcript(text)).map(({ item }) => item);
  const warnedAfter = items.findIndex((item) => item.kind === 'user_message' && item.origin === 'control');
  const before = items.slice(0, warnedAfter).filter(({ kind }) => kind === 'tool_result_batch').length;
  const warnings = items.filter((item) => item.kind === 'user_message' && item.origin === 'control').length;
  return { event, warnings, before: warnings === 0 ? null : before };
}

test('the model is warned after the third same result, and the run ends after the fifth', async () => {
  const { event, warnings, before } = await ran('same');
  expect(event).toMatchObject({ type: 'run_failed', error: 'ToolLoop' });
  expect({ warnings, before, calls }).toEqual({ warnings: 1, before: 3, calls: 5 });
});

test('a model that heeds the warning goes on', async () => {
  const { event, before } = await ran('obedient');
  expect(event).toMatchObject({ type: 'final_response', text: 'stopped' });
  expect({ before, calls }).toEqual({ before: 3, calls: 3 });
});

test('another result each time is no loop, and pollable tools may be asked again and again', async () => {
  expect(await ran('other')).toMatchObject({ event: { type: 'final_response' }, warnings: 0 });
  expect(await ran('poll')).toMatchObject({ event: { type: 'final_response' }, warnings: 0 });
});
