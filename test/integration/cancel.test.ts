import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { validate } from '../../src/transcript/validate.ts';
import { type Harness, startHarness } from './harness.ts';
import { lastUserText, turnOf, workTool } from './scripts.ts';

let harness: Harness;

/** The user's text scripts the model: `stream`, `tool`, anything else is answered. */
beforeAll(async () => {
  harness = await startHarness({
    tools: [workTool],
    answer: (request) => {
      const text = lastUserText(request);
      if (text === 'stream') return { text: ['one ', 'two ', 'three '], chunkDelayMs: 30, hang: true };
      if (text === 'tool' && turnOf(request) === 0)
        return { calls: [0, 1].map((n) => ({ name: 'work', args: { n, sleepMs: 60_000 } })) };
      return { text: `done: ${text}` };
    },
  });
});
afterAll(() => harness.stop());

async function expectSettled(sessionId: string): Promise<void> {
  await expectValid(sessionId);
  await expectGoesOn(sessionId);
}

async function expectValid(sessionId: string): Promise<void> {
  const entries = await harness.client.transcript(sessionId);
  expect(
    validate(
      entries.map((entry) => entry.item),
      { tail: 'closed', seqs: entries.map((entry) => entry.seq) },
    ),
  ).toEqual([]);
}

async function expectGoesOn(sessionId: string): Promise<void> {
  const next = await harness.client.send({ sessionId, text: 'hello again' });
  expect((await harness.client.result(next)).event).toMatchObject({
    type: 'final_response',
    text: 'done: hello again',
  });
}

describe('cancel by signal', () => {
  test('while a model streams: the request is closed, the text so far is kept, the session goes on', async () => {
    const sent = await harness.client.send({ sessionId: 'streaming', text: 'stream' });
    const seen = await expect
      .poll(() => harness.provider.requests.find((request) => JSON.stringify(request.body).includes('"stream"}')))
      .toBeDefined()
      .then(() => harness.provider.requests.at(-1));
    await new Promise((resolve) => setTimeout(resolve, 400));
    await harness.client.cancel('streaming', 'enough');
    const { event } = await harness.client.result(sent);
    expect(event).toMatchObject({ type: 'loop_aborted', reason: 'enough', answers: [sent.messageId] });
    expect(seen?.abortedAt).toBeDefined();
    const entries = await harness.client.transcript('streaming');
    expect(entries.at(-1)?.item).toMatchObject({
      kind: 'assistant_message',
      interrupted: true,
      content: [{ text: 'one two three ' }],
    });
    await expectSettled('streaming');
  });

  test('while tools run: each call has a result that says so', async () => {
    const sent = await harness.client.send({ sessionId: 'tools', text: 'tool' });
    await expect.poll(async () => (await harness.client.status('tools')).activity).toContain('running');
    await new Promise((resolve) => setTimeout(resolve, 300));
    await harness.client.cancel('tools');
    expect((await harness.client.result(sent)).event.type).toBe('loop_aborted');
    const entries = await harness.client.transcript('tools');
    expect(entries.at(-1)?.item).toMatchObject({
      kind: 'tool_result_batch',
      results: [{ status: 'cancelled' }, { status: 'cancelled' }],
    });
    await expectSettled('tools');
  });

  test('ends queued messages too, each in its own loop_aborted', async () => {
    const first = await harness.client.send({ sessionId: 'queue', text: 'stream' });
    const queued = await Promise.all(
      [1, 2, 3].map((n) => harness.client.send({ sessionId: 'queue', text: `later ${n}` })),
    );
    await harness.client.cancel('queue');
    for (const message of [first, ...queued]) {
      expect((await harness.client.result(message)).event.type).toBe('loop_aborted');
    }
    await expectSettled('queue');
  });
});

describe('native cancel', () => {
  test('settles the store, then Temporal shows Canceled', async () => {
    const sent = await harness.client.send({ sessionId: 'native', text: 'tool' });
    await expect.poll(async () => (await harness.client.status('native')).activity).toContain('running');
    const handle = harness.client.temporal.workflow.getHandle('session/native');
    await handle.cancel();
    expect((await harness.client.result(sent)).event.type).toBe('loop_aborted');
    await expect(handle.result()).rejects.toThrow(/cancel/i);
    expect((await handle.describe()).status.name).toBe('CANCELLED');
    await expectSettled('native');
  });
});

describe('termination', () => {
  test('leaves a run that the next message heals: marked, failed, and gone on from', async () => {
    const sent = await harness.client.send({ sessionId: 'killed', text: 'tool' });
    await expect.poll(async () => (await harness.client.status('killed')).activity).toContain('running');
    await harness.client.temporal.workflow.getHandle('session/killed').terminate('pulled the plug');
    await expectGoesOn('killed');
    await expectValid('killed');
    expect((await harness.client.result(sent)).event.type).toBe('run_failed');
    expect((await harness.client.runs('killed')).map((run) => run.status)).toEqual(['abandoned', 'completed']);
  });
});
