import { afterAll, beforeAll, expect, test } from 'vitest';
import type { FakeAnswer, SeenRequest } from '../fakes/fake-provider.ts';
import { type Harness, startHarness } from './harness.ts';
import { worksThenAnswers, workTool } from './scripts.ts';

const USAGE = { prompt_tokens: 900, completion_tokens: 100 };
const script = worksThenAnswers(3);
const answer = (request: SeenRequest): FakeAnswer => ({ ...script(request), usage: USAGE });

/** Each step uses 1,000 tokens and may use some more: there is room for two. */
const agent = { maxOutputTokens: 100, budgets: { run: { maxTokens: 2400 } } };

let stops: Harness;
let asks: Harness;
beforeAll(async () => {
  stops = await startHarness({ tools: [workTool], answer, agent });
  asks = await startHarness({ tools: [workTool], answer, agent: { ...agent, onBudget: 'ask' } });
});
afterAll(() => Promise.all([stops.stop(), asks.stop()]));

test('a used-up budget ends the run before a request is made, and readers were told that it came near', async () => {
  const sent = await stops.client.send({ sessionId: 'stops', text: 'work' });
  const { event, runId } = await stops.client.result(sent);
  expect(event).toMatchObject({ type: 'run_failed', error: 'BudgetExceeded' });
  expect(event).toMatchObject({
    message: expect.stringMatching(/^the budget of this run is used up: 2000 tokens of 2400 tokens, and the next/),
  });
  expect(stops.provider.requests).toHaveLength(2);
  expect(await stops.store.budgets(runId)).toMatchObject([{ used: 2000, max: 2400 }]);
  const events = (await stops.store.events(runId)).map((recorded) => recorded.event);
  expect(events.filter(({ type }) => type === 'budget_warning')).toEqual([
    { type: 'budget_warning', scope: 'run', limit: 'maxTokens', used: 2000, max: 2400 },
  ]);
});

test('with onBudget ask the run waits, and goes on once its budget is extended', async () => {
  const sent = await asks.client.send({ sessionId: 'asks', text: 'work' });
  await expect.poll(async () => (await asks.client.status('asks')).status).toBe('waiting');
  const before = asks.provider.requests.length;
  await asks.client.extendBudget('asks', { maxTokens: 4000, by: 'tester' });
  const { event, runId } = await asks.client.result(sent);
  expect(event).toMatchObject({ type: 'final_response', text: 'done: work' });
  expect(before).toBe(2);
  expect(asks.provider.requests).toHaveLength(4);
  expect(await asks.store.budgets(runId)).toMatchObject([{ used: 4000, max: 6400 }]);
});

test('a budget in dollars is no budget for a model whose price nobody knows', async () => {
  const harness = await startHarness({ answer, agent: { budgets: { session: { maxUsd: 1 } } } });
  const { event } = await harness.client.result(await harness.client.send({ sessionId: 's', text: 'work' }));
  expect(event).toMatchObject({ error: 'ConfigInvalid', message: expect.stringContaining('price of fake/script') });
  expect(harness.provider.requests).toEqual([]);
  await harness.stop();
});
