import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { validate } from '../../src/transcript/validate.ts';
import { type Harness, startHarness } from './harness.ts';
import { lastUserText, turnOf, workTool } from './scripts.ts';

/** Model calls that a run has begun when it is cancelled: just before and after it continues as new; more in the long tests. */
const MOMENTS = process.env.HOLDFAST_LONG === '1' ? [3, 4, 5, 6, 7, 8, 9, 11, 13] : [4, 5];

let harness: Harness;

/** `N steps` asks for the tool N times, with outputs of 50 kB where it says so. */
beforeAll(async () => {
  harness = await startHarness({
    tools: [workTool],
    agent: { maxToolTurns: 1000 },
    answer: (request) => {
      const text = lastUserText(request);
      const bytes = text.includes('large') ? 50_000 : 100;
      if (turnOf(request) >= Number.parseInt(text, 10)) return { text: `done after ${turnOf(request)}` };
      return { calls: [{ name: 'work', args: { n: turnOf(request), bytes } }] };
    },
  });
});
afterAll(() => harness.stop());

async function executionsOf(sessionId: string): Promise<string[]> {
  const statuses: string[] = [];
  const query = `WorkflowId = "session/${sessionId}"`;
  for await (const { status } of harness.client.temporal.workflow.list({ query })) statuses.push(status.name);
  return statuses.sort();
}

async function expectValid(sessionId: string): Promise<void> {
  const entries = await harness.client.transcript(sessionId);
  const items = entries.map((entry) => entry.item);
  expect(validate(items, { tail: 'closed', seqs: entries.map((entry) => entry.seq) })).toEqual([]);
}

describe('a long run', () => {
  test('goes on in a new execution at a step boundary: one run, nothing lost of sixty steps with 50 kB each', async () => {
    const sent = await harness.client.send({ sessionId: 'long', text: '60 steps, large' });
    const { event, runId } = await harness.client.result(sent);
    expect(event).toMatchObject({ type: 'final_response', text: 'done after 60', steps: 61 });
    expect((await harness.client.runs('long')).map((run) => [run.runId, run.status])).toEqual([[runId, 'completed']]);
    await expectValid('long');
    await expect
      .poll(async () => (await executionsOf('long')).filter((name) => name === 'CONTINUED_AS_NEW').length)
      .toBeGreaterThan(5);
  });

  test('messages that wait behind it are carried along, in order', async () => {
    const first = await harness.client.send({ sessionId: 'carried', text: '12 steps' });
    const rest = [];
    for (const n of [1, 2, 3]) rest.push(await harness.client.send({ sessionId: 'carried', text: `${n} steps` }));
    const answers = await Promise.all([first, ...rest].map((message) => harness.client.result(message)));
    expect(answers.map(({ event }) => event.type === 'final_response' && event.text)).toEqual(
      [12, 1, 2, 3].map((n) => `done after ${n}`),
    );
  });
});

describe('a cancel at any moment of a long run', () => {
  test.each(['signal', 'native'] as const)('by %s: no model call after it, every message ended', async (way) => {
    for (const calls of MOMENTS) {
      const sessionId = `${way}-${calls}`;
      const sent = await harness.client.send({ sessionId, text: '900 steps' });
      const before = harness.provider.requests.length;
      await expect.poll(() => harness.provider.requests.length - before, { interval: 1 }).toBeGreaterThanOrEqual(calls);
      if (way === 'signal') await harness.client.cancel(sessionId);
      else await harness.client.temporal.workflow.getHandle(`session/${sessionId}`).cancel();
      expect((await harness.client.result(sent)).event.type).toBe('loop_aborted');
      const made = harness.provider.requests.length;
      await new Promise((resolve) => setTimeout(resolve, 150));
      expect(harness.provider.requests.length).toBe(made);
      await expectValid(sessionId);
    }
  });
});
