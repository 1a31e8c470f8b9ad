import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Harness, startHarness } from './harness.ts';
import { lastUserText, worksThenAnswers, workTool } from './scripts.ts';

let harness: Harness;

/** Every second run takes a step with a tool before it answers, in the long tests each takes two with two tools. */
beforeAll(async () => {
  const long = process.env.HOLDFAST_LONG === '1';
  const answers = [0, 1].map((steps) => (long ? worksThenAnswers(2, {}, 2) : worksThenAnswers(steps)));
  harness = await startHarness({
    tools: [workTool],
    answer: (request) => {
      const n = Number(lastUserText(request).replace('message ', ''));
      const answer = answers[n % 2];
      if (answer === undefined) throw new Error(`no message of these tests: ${lastUserText(request)}`);
      return answer(request);
    },
  });
});
afterAll(() => harness.stop());

test('twenty sends to one session are each answered exactly once, in order', async () => {
  const sent = await Promise.all(
    Array.from({ length: 20 }, (_, n) => harness.client.send({ sessionId: 'twenty', text: `message ${n}` })),
  );
  const outcomes = await Promise.all(sent.map((message) => harness.client.result(message)));
  expect(outcomes.map(({ event }) => (event.type === 'final_response' ? event.text : event.type))).toEqual(
    sent.map((_, n) => `done: message ${n}`),
  );
  expect(outcomes.flatMap(({ event }) => ('answers' in event ? event.answers : []))).toEqual(
    sent.map((each) => each.messageId),
  );
});

test('sixty sends to three sessions, whose runs close at random moments, are each answered exactly once', async () => {
  const sent = [];
  for (let n = 0; n < 60; n++) {
    sent.push(harness.client.send({ sessionId: `of-three-${n % 3}`, text: `message ${n}` }));
    await new Promise((resolve) => setTimeout(resolve, (n * 37) % 60));
  }
  const outcomes = await Promise.all(sent.map(async (message) => harness.client.result(await message)));
  const answered = outcomes.map(({ event }) => (event.type === 'final_response' ? event.text : event.type)).sort();
  expect(answered).toEqual(Array.from({ length: 60 }, (_, n) => `done: message ${n}`).sort());
});
