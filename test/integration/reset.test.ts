import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { SUMMARY_HEADINGS } from '../../src/compaction/headings.ts';
import { workflowIdOf } from '../../src/contract/identity.ts';
import { defineTool } from '../../src/tools/define-tool.ts';
import { createPolicy } from '../../src/tools/policy.ts';
import { validate } from '../../src/transcript/validate.ts';
import type { FakeAnswer, SeenRequest } from '../fakes/fake-provider.ts';
import { type Harness, startHarness } from './harness.ts';

let harness: Harness;
/** What the model says in a session: asked with the number of answers it has given there before. */
const scripts = new Map<string, (nth: number) => FakeAnswer>();
const asked = new Map<string, number>();
const paid: string[] = [];

/** Has effects, and no way to find out whether it was done. */
const pay = defineTool({
  name: 'pay',
  description: 'Pays a bill.',
  input: z.object({ bill: z.string() }),
  execute: async ({ bill }) => {
    paid.push(bill);
    return `paid ${bill}: receipt ${bill}-77 ${'.'.repeat(1500)}`;
  },
});

function answer(request: SeenRequest): FakeAnswer {
  if (/You write summaries|This message is from the program that runs you/.test(request.raw)) {
    return { text: SUMMARY_HEADINGS.map(({ title }) => `## ${title}\nbills were paid`).join('\n\n') };
  }
  const name = [...scripts.keys()].find((key) => request.raw.includes(key)) ?? '';
  const nth = asked.get(name) ?? 0;
  asked.set(name, nth + 1);
  return scripts.get(name)?.(nth) ?? { text: 'no script' };
}

beforeAll(async () => {
  harness = await startHarness({
    answer,
    tools: [pay],
    policy: createPolicy([{ decision: 'allow' }]),
    agent: { maxToolTurns: 100, maxOutputTokens: 300 },
    facts: { windowTokens: 4000, abilities: {} },
    compaction: { keepRecentTokens: 600 },
  });
});
afterAll(() => harness?.stop());

function pays(bill: string): FakeAnswer {
  return { text: `paying ${bill}`, calls: [{ name: 'pay', args: { bill } }] };
}

async function send(sessionId: string, text: string) {
  const sent = await harness.client.send({ sessionId, text });
  return await harness.client.result(sent);
}

/** Resets an execution to where it had the `nth` model call (from 0) still before it; waits for its end. */
async function resetBefore(sessionId: string, nth: number, runId?: string): Promise<unknown> {
  const { workflow, workflowService } = harness.client.temporal;
  const handle = workflow.getHandle(workflowIdOf(sessionId), runId);
  const { events } = await handle.fetchHistory();
  const all = events ?? [];
  const calls = all.filter(
    ({ activityTaskScheduledEventAttributes: scheduled }) => scheduled?.activityType?.name === 'callModel',
  );
  const taskId = calls[nth]?.activityTaskScheduledEventAttributes?.workflowTaskCompletedEventId;
  const { runId: current } = await handle.describe();
  await workflowService.resetWorkflowExecution({
    namespace: harness.namespace,
    workflowExecution: { workflowId: workflowIdOf(sessionId), runId: current },
    reason: 'test',
    requestId: randomUUID(),
    workflowTaskFinishEventId: taskId ?? null,
  });
  return await workflow.getHandle(workflowIdOf(sessionId)).result();
}

async function kinds(sessionId: string) {
  const items = (await harness.client.transcript(sessionId)).map(({ item }) => item);
  expect(validate(items, { tail: 'closed' })).toEqual([]);
  return items.map(({ kind }) => kind);
}

test('a run that is reset asks its model again from there, and tells it what was done for good', async () => {
  const sessionId = randomUUID();
  const [first, second] = [`first-${sessionId}`, `second-${sessionId}`];
  scripts.set(
    sessionId,
    (nth) => [pays(first), pays(second), { text: 'old answer' }, { text: 'new answer' }][nth] ?? { text: 'later' },
  );
  const { runId } = await send(sessionId, `pay for ${sessionId}`);
  expect(paid.filter((bill) => bill.includes(sessionId))).toEqual([first, second]);
  const seen = harness.provider.requests.length;

  expect(await resetBefore(sessionId, 1)).toMatchObject({ status: 'completed', preview: 'new answer', runId });
  expect(paid.filter((bill) => bill.includes(sessionId))).toEqual([first, second]);
  const [request, ...more] = harness.provider.requests.slice(seen);
  expect(more).toEqual([]);
  expect(request?.raw).toContain(`paid ${first}`);
  expect(request?.raw).toContain('Do not repeat them');
  expect(request?.raw).toContain(`receipt ${second}-77`);
  expect(request?.raw).not.toContain(`paying ${second}`);
  expect(request?.raw).not.toContain('old answer');
  expect(await kinds(sessionId)).toEqual([
    'user_message',
    'assistant_message',
    'tool_call_batch',
    'tool_result_batch',
    'user_message',
    'assistant_message',
  ]);

  const { event } = await send(sessionId, `and now, ${sessionId}`);
  expect(event).toMatchObject({ type: 'final_response', text: 'later' });
  await expect(resetBefore(sessionId, 0, undefined)).resolves.toMatchObject({ status: 'completed' });
});

test('a call that ran is not run again when its step is reset', async () => {
  const sessionId = randomUUID();
  scripts.set(
    sessionId,
    (nth) => [pays(`once-${sessionId}`), { text: 'old' }, { text: 'new' }][nth] ?? { text: 'later' },
  );
  await send(sessionId, `pay once for ${sessionId}`);
  const handle = harness.client.temporal.workflow.getHandle(workflowIdOf(sessionId));
  const { events } = await handle.fetchHistory();
  const call = events?.find(
    ({ activityTaskScheduledEventAttributes: scheduled }) => scheduled?.activityType?.name === 'callTool',
  );
  await harness.client.temporal.workflowService.resetWorkflowExecution({
    namespace: harness.namespace,
    workflowExecution: { workflowId: workflowIdOf(sessionId), runId: (await handle.describe()).runId },
    reason: 'test',
    requestId: randomUUID(),
    workflowTaskFinishEventId: call?.activityTaskScheduledEventAttributes?.workflowTaskCompletedEventId ?? null,
  });
  expect(await handle.result()).toMatchObject({ status: 'completed', preview: 'new' });
  expect(paid.filter((bill) => bill.includes(sessionId))).toHaveLength(1);
  expect(harness.provider.requests.at(-1)?.raw).not.toContain('Do not repeat them');
  expect(await kinds(sessionId)).toEqual([
    'user_message',
    'assistant_message',
    'tool_call_batch',
    'tool_result_batch',
    'assistant_message',
  ]);
});

test('only the latest run of a session can be reset', async () => {
  const sessionId = randomUUID();
  scripts.set(sessionId, (nth) => ({ text: `answer ${nth}` }));
  await send(sessionId, `one, ${sessionId}`);
  const { runId: older } = await harness.client.temporal.workflow.getHandle(workflowIdOf(sessionId)).describe();
  await send(sessionId, `two, ${sessionId}`);
  const before = await harness.client.transcript(sessionId);
  await expect(resetBefore(sessionId, 0, older)).rejects.toMatchObject({
    cause: { type: 'InvalidInput', message: expect.stringContaining('holdfast fork') },
  });
  expect(await harness.client.transcript(sessionId)).toEqual(before);
  const { event } = await send(sessionId, `three, ${sessionId}`);
  expect(event).toMatchObject({ type: 'final_response' });
});

test('a reset to before a compaction has the view of that time', async () => {
  const sessionId = randomUUID();
  const steps = 12;
  scripts.set(sessionId, (nth) => (nth < steps ? pays(`bill-${nth}-${sessionId}`) : { text: `done ${nth}` }));
  await send(sessionId, `pay many for ${sessionId}`);
  expect((await harness.store.checkpoints(sessionId)).length).toBeGreaterThan(0);
  // The run is a chain of executions by now: the first one is reset, and all that came after is superseded.
  const { events } = await harness.client.temporal.workflow.getHandle(workflowIdOf(sessionId)).fetchHistory();
  const first = events?.[0]?.workflowExecutionStartedEventAttributes?.firstExecutionRunId ?? '';
  expect(await resetBefore(sessionId, 1, first)).toMatchObject({ status: 'completed' });
  expect(await harness.store.checkpoints(sessionId)).toEqual([]);
  expect(paid.filter((bill) => bill.includes(sessionId))).toHaveLength(steps);
  const { runId } = (await harness.store.runs(sessionId)).at(-1) ?? { runId: '' };
  const requests = await harness.store.requests(runId);
  expect(requests.map(({ step }) => step)).toEqual([0, 1]);
  await kinds(sessionId);
  const { event } = await send(sessionId, `and after, ${sessionId}`);
  expect(event).toMatchObject({ type: 'final_response' });
});
