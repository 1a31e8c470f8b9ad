import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RecordedEvent } from '../../src/transcript/events.ts';
import { validate } from '../../src/transcript/validate.ts';
import { type Harness, startHarness } from './harness.ts';
import { lastUserText, turnOf, worksThenAnswers, workTool } from './scripts.ts';

let harness: Harness;

beforeAll(async () => {
  harness = await startHarness({ answer: worksThenAnswers(2, {}, 2), tools: [workTool] });
});
afterAll(() => harness.stop());

async function eventsOf(runId: string): Promise<RecordedEvent[]> {
  const events: RecordedEvent[] = [];
  for await (const event of harness.client.events(runId)) events.push(event);
  return events;
}

describe('a run', () => {
  test('goes from a message through tools to its answer', async () => {
    const sent = await harness.client.send({ sessionId: 'first', text: 'Do the work.' });
    const { event, runId } = await harness.client.result(sent);
    expect(event).toMatchObject({
      type: 'final_response',
      text: 'done: Do the work.',
      answers: [sent.messageId],
      steps: 3,
    });
    const events = await eventsOf(runId);
    expect(events.map((each) => each.index)).toEqual(events.map((_, index) => index));
    expect(events.map((each) => each.event.type)).toEqual([
      'run_started',
      ...['assistant_message_done', 'tool_call_requested', 'tool_call_requested'],
      ...['tool_call_started', 'tool_call_completed', 'tool_call_started', 'tool_call_completed'],
      ...['assistant_message_done', 'tool_call_requested', 'tool_call_requested'],
      ...['tool_call_started', 'tool_call_completed', 'tool_call_started', 'tool_call_completed'],
      'assistant_message_done',
      'final_response',
    ]);
  });

  test('leaves a transcript that validates, results in call order', async () => {
    const entries = await harness.client.transcript('first');
    expect(
      validate(
        entries.map((entry) => entry.item),
        { tail: 'closed', seqs: entries.map((entry) => entry.seq) },
      ),
    ).toEqual([]);
    expect(entries.map((entry) => entry.item.kind)).toEqual([
      'user_message',
      ...['assistant_message', 'tool_call_batch', 'tool_result_batch'],
      ...['assistant_message', 'tool_call_batch', 'tool_result_batch'],
      'assistant_message',
    ]);
  });

  test('takes two activities and two workflow tasks a step', async () => {
    const handle = harness.client.temporal.workflow.getHandle('session/first');
    const history = await handle.fetchHistory();
    const names = (history.events ?? []).map((event) => event.eventType);
    const scheduled = (history.events ?? []).filter((event) => event.activityTaskScheduledEventAttributes);
    const types = scheduled.map((event) => event.activityTaskScheduledEventAttributes?.activityType?.name);
    expect(types).toEqual([
      ...['openRun', 'callModel', 'callTool', 'callTool', 'callModel', 'callTool', 'callTool', 'callModel', 'closeRun'],
    ]);
    expect(names.filter((name) => Number(name) === 17)).toEqual([]);
  });

  test('sees the earlier turns of its session', async () => {
    const sent = await harness.client.send({ sessionId: 'first', text: 'And again.' });
    const { event } = await harness.client.result(sent);
    expect(event).toMatchObject({ type: 'final_response', text: 'done: And again.' });
    const { messages } = harness.provider.requests.at(-1)?.body ?? {};
    expect(JSON.stringify(messages)).toContain('Do the work.');
  });

  test('is found by its search attributes, with a line for each activity', async () => {
    const handle = harness.client.temporal.workflow.getHandle('session/first');
    await handle.result();
    expect((await handle.describe()).searchAttributes).toMatchObject({
      HoldfastSession: ['first'],
      HoldfastAgent: ['default'],
      HoldfastModel: ['fake/script'],
      HoldfastStatus: ['completed'],
    });
    const { events } = await handle.fetchHistory();
    const lines = (events ?? []).flatMap(({ activityTaskScheduledEventAttributes: scheduled, userMetadata }) =>
      scheduled == null ? [] : String(Buffer.from(userMetadata?.summary?.data ?? [])),
    );
    expect(lines).toContain('"open run for first"');
    expect(lines).toContainEqual(expect.stringMatching(/^"step 1 · fake\/script · \d+ tokens"$/));
  });

  test('tells what its model calls have used', async () => {
    const run = (await harness.client.runs('first')).at(-1);
    const handle = harness.client.temporal.workflow.getHandle('session/first');
    const used = await handle.query<{ inputTokens: number }, []>('usage');
    expect(used.inputTokens).toBeGreaterThan(0);
    expect(used).toEqual(run?.usage);
  });
});

test('a message id that has ended is answered from the store', async () => {
  const sent = await harness.client.send({ sessionId: 'same', text: 'once', messageId: 'm-1' });
  const first = await harness.client.result(sent);
  const calls = harness.provider.requests.length;
  await harness.client.send({ sessionId: 'same', text: 'once', messageId: 'm-1' });
  expect(await harness.client.result(sent)).toEqual(first);
  expect(harness.provider.requests.length).toBe(calls);
});

test('a steering message joins the running run at the next step', async () => {
  const { client, provider } = harness;
  provider.answer = (request) => {
    if (turnOf(request) === 0 && !JSON.stringify(request.body).includes('second')) {
      return { calls: [{ name: 'work', args: { n: 0, sleepMs: 1500 } }] };
    }
    return { text: `heard: ${lastUserText(request)}` };
  };
  const before = provider.requests.length;
  const first = await client.send({ sessionId: 'steered', text: 'first' });
  await expect.poll(() => provider.requests.length).toBe(before + 1);
  const second = await client.send({ sessionId: 'steered', text: 'second', mode: 'steer' });
  const outcome = await client.result(first);
  expect(outcome.event).toMatchObject({
    type: 'final_response',
    text: 'heard: second',
    answers: [first.messageId, second.messageId],
  });
  expect(await client.result(second)).toMatchObject({ runId: outcome.runId });
});
