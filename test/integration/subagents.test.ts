import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { SentMessage } from '../../src/client/holdfast-client.ts';
import { createDelegate } from '../../src/tools/delegate.ts';
import { createToolRegistry } from '../../src/tools/registry.ts';
import type { ToolResult } from '../../src/transcript/items.ts';
import { validate } from '../../src/transcript/validate.ts';
import type { FakeAnswer, SeenRequest } from '../fakes/fake-provider.ts';
import { type Harness, startHarness } from './harness.ts';
import { lastUserText, turnOf } from './scripts.ts';

const delegating = createToolRegistry([createDelegate([{ name: 'helper', description: 'Helps.' }])]);

let harness: Harness;
let together = 0;
let openBarrier: () => void = () => {};
const barrier = new Promise<void>((resolve) => {
  openBarrier = resolve;
});

/**
 * The user's text scripts the model: `ask a; b` gives the tasks `a` and `b` to the helper and then repeats what it was
 * told. The tasks: `fail` is refused, `hang` never ends, `meet …` waits for another one like it, `deeper` is passed on.
 */
async function answer(request: SeenRequest): Promise<FakeAnswer> {
  const text = lastUserText(request);
  const tasks = text === 'deeper' ? ['deeper'] : text.startsWith('ask ') ? text.slice(4).split('; ') : [];
  if (tasks.length > 0 && turnOf(request) === 0) {
    return { calls: tasks.map((task) => ({ name: 'delegate', args: { agent: 'helper', task } })) };
  }
  if (tasks.length > 0) return { text: `told: ${toldIn(request).join(' | ')}` };
  if (text === 'fail') return { status: 400, body: { error: { message: 'no such thing' } } };
  if (text === 'hang') return { text: 'so far ', hang: true };
  if (text.startsWith('meet')) {
    together += 1;
    if (together === 2) openBarrier();
    await barrier;
  }
  return { text: `done: ${text}` };
}

function toldIn({ body }: SeenRequest): readonly string[] {
  const messages: { role: string; content: string }[] = body.messages;
  return messages.filter(({ role }) => role === 'tool').map(({ content }) => content);
}

beforeAll(async () => {
  harness = await startHarness({
    answer,
    agent: { tools: delegating },
    others: [{ name: 'helper', instructions: 'You help.', tools: delegating }],
  });
});
afterAll(() => harness.stop());

const send = (sessionId: string, text: string): Promise<SentMessage> => harness.client.send({ sessionId, text });

async function resultsOf(sessionId: string): Promise<readonly ToolResult[]> {
  const entries = await harness.client.transcript(sessionId);
  const items = entries.map(({ item }) => item);
  expect(validate(items, { tail: 'closed', seqs: entries.map(({ seq }) => seq) })).toEqual([]);
  return items.flatMap((item) => (item.kind === 'tool_result_batch' ? item.results : []));
}

async function subSessions(sessionId: string): Promise<readonly string[]> {
  const rows = await harness.store.sessions({ limit: 100, under: sessionId });
  return rows.map((row) => row.sessionId);
}

describe('a task for a subagent', () => {
  test('is a run of its own, with the model of the one who gives it, whose whole answer is the result of the call', async () => {
    const task = `count ${'x'.repeat(9000)}`;
    const sent = await harness.client.send({ sessionId: 'one', text: `ask ${task}`, model: 'fake/other' });
    expect((await harness.client.result(sent)).event).toMatchObject({
      type: 'final_response',
      text: `told: done: ${task}`,
    });
    const [result] = await resultsOf('one');
    const child = `one/sub/${result?.callId}`;
    expect(await subSessions('one')).toEqual([child]);
    const [parentRun] = await harness.client.runs('one');
    expect(await harness.client.runs(child)).toMatchObject([
      {
        agent: 'helper',
        model: 'fake/other',
        status: 'completed',
        messageIds: [result?.callId],
        config: { root: { runId: parentRun?.runId, sessionId: 'one' } },
      },
    ]);
    expect(parentRun?.config.root).toBeUndefined();
  });

  test('works beside another one of the same response', async () => {
    const sent = await send('two', 'ask meet a; meet b');
    expect((await harness.client.result(sent)).event).toMatchObject({ text: 'told: done: meet a | done: meet b' });
  });

  test('that fails is a result that says so, and the run goes on', async () => {
    const sent = await send('failing', 'ask fail; succeed');
    expect((await harness.client.result(sent)).event).toMatchObject({
      type: 'final_response',
      text: expect.stringMatching(
        /^told: \[error\] The agent failed \(ProviderFailed\): .*no such thing.* \| done: succeed$/,
      ),
    });
    expect((await resultsOf('failing')).map(({ status }) => status)).toEqual(['error', 'ok']);
  });

  test('is stopped when somebody stops it alone, and the one who gave it is told', async () => {
    const sent = await send('alone', 'ask hang');
    await expect.poll(() => subSessions('alone')).toHaveLength(1);
    const [child = ''] = await subSessions('alone');
    await harness.client.cancel(child, 'not needed');
    expect((await harness.client.result(sent)).event).toMatchObject({ text: expect.stringContaining('not needed') });
    expect((await resultsOf('alone')).map(({ status }) => status)).toEqual(['cancelled']);
  });

  test('may be passed on three times', async () => {
    const sent = await send('deep', 'deeper');
    const { event } = await harness.client.result(sent);
    expect(event).toMatchObject({
      type: 'final_response',
      text: expect.stringMatching(/^(told: ){4}\[error\] Tasks may be passed on 3 times at most/),
    });
    const below = await subSessions('deep');
    expect(below.map((id) => id.split('/sub/').length - 1).sort()).toEqual([1, 2, 3]);
    const top = (await harness.client.runs('deep'))[0]?.runId;
    for (const id of below) {
      expect((await harness.client.runs(id))[0]?.config.root).toEqual({ runId: top, sessionId: 'deep' });
    }
  });
});

test('a cancel goes down the tree: every run ends, and its transcript is whole', async () => {
  const sent = await send('stopped', 'ask ask hang; hang');
  await expect.poll(() => subSessions('stopped')).toHaveLength(3);
  await harness.client.cancel('stopped', 'enough');
  expect((await harness.client.result(sent)).event).toMatchObject({ type: 'loop_aborted', reason: 'enough' });
  for (const id of await subSessions('stopped')) {
    await resultsOf(id);
    expect((await harness.client.runs(id)).map(({ status }) => status)).toEqual(['cancelled']);
  }
  expect((await resultsOf('stopped')).map(({ status }) => status)).toEqual(['cancelled', 'cancelled']);
});
