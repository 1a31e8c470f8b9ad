import { afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { rebuildRequest } from '../../src/client/rebuild-request.ts';
import { createProviderRegistry } from '../../src/providers/registry.ts';
import { outputSchemaOf } from '../../src/tools/output-schema.ts';
import { fakeModel, type Harness, startHarness } from './harness.ts';
import { turnOf, worksThenAnswers, workTool } from './scripts.ts';

let harness: Harness;
afterEach(() => harness.stop());

const eventTypes = async (runId: string): Promise<string[]> =>
  (await harness.store.events(runId)).map(({ event }) => event.type);

async function answerTo(text: string, more: { model?: string } = {}) {
  return harness.client.result(await harness.client.send({ sessionId: 's', text, ...more }));
}

describe('a model that refuses for good', () => {
  test('is followed by the fallback, which the run then stays with', async () => {
    harness = await startHarness({
      tools: [workTool],
      agent: { fallbacks: ['fake/second', 'fake/third'] },
      answer: (request) => {
        if (request.body.model !== 'third')
          return { status: 401, body: { error: { message: 'bad key', code: 'invalid_api_key' } } };
        return worksThenAnswers(1)(request);
      },
    });
    const { event, runId } = await answerTo('go');
    expect(event).toMatchObject({ type: 'final_response', text: 'done: go' });
    expect(harness.provider.requests.map(({ body }) => body.model)).toEqual(['script', 'second', 'third', 'third']);
    const events = await harness.store.events(runId);
    expect(events.flatMap(({ event: one }) => (one.type === 'model_fallback' ? [[one.from, one.to]] : []))).toEqual([
      ['fake/script', 'fake/second'],
      ['fake/second', 'fake/third'],
    ]);
    expect((await harness.store.requests(runId)).map(({ model }) => model)).toEqual(['fake/third', 'fake/third']);
  });

  test('without a fallback ends the run', async () => {
    harness = await startHarness({
      answer: () => ({
        status: 429,
        body: { error: { message: 'You exceeded your current quota', code: 'insufficient_quota' } },
      }),
    });
    const { event } = await answerTo('go');
    expect(event).toMatchObject({ type: 'run_failed', error: 'ProviderFailed' });
    expect(harness.provider.requests.length).toBe(1);
  });
});

describe('an output schema', () => {
  const output = outputSchemaOf(z.object({ n: z.number() }));

  test('is asked for once more when the answer does not fit, with what is wrong', async () => {
    harness = await startHarness({
      agent: { output },
      answer: (_, index) => ({ text: index === 0 ? '{"n":"one"}' : '{"n":1}' }),
    });
    expect((await answerTo('count')).event).toMatchObject({ type: 'final_response', text: '{"n":1}' });
    const again = JSON.stringify(harness.provider.requests[1]?.body.messages.at(-1));
    expect(again).toContain('expected number');
  });

  test('ends in InvalidOutput after the second misfit', async () => {
    harness = await startHarness({ agent: { output }, answer: () => ({ text: 'no JSON at all' }) });
    expect((await answerTo('count')).event).toMatchObject({ type: 'run_failed', error: 'InvalidOutput' });
    expect(harness.provider.requests.length).toBe(2);
  });
});

test('an overflow by the output limit alone goes out once more with the room that is left', async () => {
  const message =
    "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens (5000 in the messages, 4000 in the completion).";
  harness = await startHarness({
    agent: { maxOutputTokens: 4000 },
    answer: (_, index) =>
      index === 0
        ? { status: 400, body: { error: { message, type: 'invalid_request_error', code: 'context_length_exceeded' } } }
        : { text: 'short' },
  });
  expect((await answerTo('go')).event).toMatchObject({ type: 'final_response', text: 'short' });
  const limit = (body: Record<string, unknown>) => body.max_tokens ?? body.max_completion_tokens;
  expect(harness.provider.requests.map(({ body }) => limit(body))).toEqual([4000, 8192 - 5000 - 16]);
});

describe('a final text that only promises to act', () => {
  test('is nudged once, by a message that people do not see', async () => {
    harness = await startHarness({
      tools: [workTool],
      answer: (request, index) => {
        if (index === 0) return { text: 'I will now run the tool.' };
        return turnOf(request) === 0 && index === 1
          ? { calls: [{ name: 'work', args: { n: 1 } }] }
          : { text: 'All done.' };
      },
    });
    const { event, runId } = await answerTo('go');
    expect(event).toMatchObject({ type: 'final_response', text: 'All done.' });
    expect(await eventTypes(runId)).toContain('terminal_without_tool_calls');
    const control = (await harness.client.transcript('s')).filter(
      ({ item }) => item.kind === 'user_message' && item.origin === 'control',
    );
    expect(control.length).toBe(1);
  });
});

test('every request of a run can be rebuilt byte for byte', async () => {
  harness = await startHarness({
    tools: [workTool],
    answer: worksThenAnswers(3, { bytes: 100_000 }, 2),
  });
  const { runId } = await answerTo('go');
  const deps = {
    store: harness.store,
    providers: createProviderRegistry({ providers: [fakeModel(harness.provider.baseURL)], default: 'fake/script' }),
    catalog: { facts: () => ({ abilities: {} }) },
  };
  expect(harness.provider.requests.length).toBe(4);
  for (const [step, { raw }] of harness.provider.requests.entries()) {
    expect(await rebuildRequest(deps, runId, step)).toBe(raw);
  }
});

describe('an attached image', () => {
  // One transparent pixel.
  const png = Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'base64',
  );

  test.each([
    [true, 'goes to a model that takes images, as its bytes'],
    [false, 'becomes a note for one that does not'],
  ])('takes images: %s: %s', async (takesImages) => {
    harness = await startHarness({ takesImages, answer: () => ({ text: 'seen' }) });
    const image = await harness.client.attach(png, 'image/png', 'pixel.png');
    const sent = await harness.client.send({ sessionId: 's', text: 'What is it?', attachments: [image] });
    expect((await harness.client.result(sent)).event).toMatchObject({ type: 'final_response', text: 'seen' });
    const body = JSON.stringify(harness.provider.requests[0]?.body);
    expect(body.includes(png.toString('base64'))).toBe(takesImages);
    expect(body.includes('pixel.png')).toBe(!takesImages);
    // The transcript refers to it; the bytes stand once in the store.
    expect(JSON.stringify(await harness.client.transcript('s'))).not.toContain(png.toString('base64'));
  });
});

test("a provider's limit is kept: a call beyond it waits, and is not sent", async () => {
  harness = await startHarness({
    answer: () => ({ text: 'ok' }),
    rateLimits: new Map([['fake', { requestsPerMinute: 60 }]]),
  });
  await harness.store.takeRate([{ bucket: 'fake:requests', perMinute: 60, amount: 60 }]);
  const from = Date.now();
  expect((await answerTo('go')).event).toMatchObject({ type: 'final_response' });
  expect(harness.provider.requests.length).toBe(1);
  // A bucket of 60 a minute gives the next call after a second.
  expect(Date.now() - from).toBeGreaterThan(700);
});
