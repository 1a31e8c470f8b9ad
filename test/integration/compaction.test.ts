import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { rebuildRequest } from '../../src/client/rebuild-request.ts';
import { SUMMARY_HEADINGS } from '../../src/compaction/headings.ts';
import { workflowIdOf } from '../../src/contract/identity.ts';
import { createProviderRegistry } from '../../src/providers/registry.ts';
import { validate } from '../../src/transcript/validate.ts';
import type { FakeAnswer, SeenRequest } from '../fakes/fake-provider.ts';
import { fakeModel, type Harness, startHarness } from './harness.ts';
import { lastUserText, workTool } from './scripts.ts';

let harness: Harness;
/** What the model says when it is asked for a summary, by the session it was asked in; counted. */
let summariser: (request: SeenRequest) => FakeAnswer | Promise<FakeAnswer> = () => ({
  text: goodSummary('what was done'),
});
let summaries = 0;

beforeAll(async () => {
  harness = await startHarness({
    answer,
    tools: [workTool],
    agent: { maxToolTurns: 100, maxOutputTokens: 300 },
    facts: { windowTokens: 4000, abilities: {} },
    compaction: { keepRecentTokens: 600 },
  });
});

afterAll(() => harness?.stop());

function asksForSummary(request: SeenRequest): boolean {
  const messages: { role: string; content: unknown }[] = request.body.messages;
  return /You write summaries|This message is from the program that runs you/.test(
    JSON.stringify([messages[0], messages.at(-1)]),
  );
}

function goodSummary(text: string): string {
  return SUMMARY_HEADINGS.map(({ title }) => `## ${title}\n${text}, 2000 bytes each`).join('\n\n');
}

function answer(request: SeenRequest): FakeAnswer | Promise<FakeAnswer> {
  if (!asksForSummary(request)) return agent(request);
  summaries += 1;
  return summariser(request);
}

const made = new Map<string, number>();

/** Works as often as the message says ("work 5 …"), each time with 2 kB of output; then answers with what it was asked. */
function agent(request: SeenRequest): FakeAnswer {
  const text = lastUserText(request);
  const turns = Number(/work (\d+)/.exec(text)?.[1] ?? 0);
  const turn = made.get(text) ?? 0;
  if (turn >= turns) return { text: `done: ${text}` };
  made.set(text, turn + 1);
  return { text: `turn ${turn}`, calls: [{ name: 'work', args: { n: turn, bytes: 2000 } }] };
}

async function send(sessionId: string, text: string) {
  const sent = await harness.client.send({ sessionId, text });
  return harness.client.result(sent);
}

async function eventsOf(sessionId: string) {
  const runs = await harness.client.runs(sessionId);
  const events = await Promise.all(runs.map(({ runId }) => harness.store.events(runId)));
  return events.flat().map(({ event }) => event);
}

test('a run that outgrows its window is compacted between its steps and goes on', async () => {
  const sessionId = randomUUID();
  summariser = () => ({ text: goodSummary(`the work so far in ${sessionId}`) });
  const { event } = await send(sessionId, `work 14 in ${sessionId}`);
  expect(event).toMatchObject({ type: 'final_response', text: `done: work 14 in ${sessionId}`, steps: 15 });
  const checkpoints = await harness.store.checkpoints(sessionId);
  expect(checkpoints.length).toBeGreaterThan(0);
  expect(checkpoints[0]).toMatchObject({ trigger: 'mid_loop', model: 'fake/script', quality: { passed: true } });
  const entries = await harness.client.transcript(sessionId);
  expect(
    validate(
      entries.map(({ item }) => item),
      { tail: 'closed' },
    ),
  ).toEqual([]);
  expect(entries.filter(({ item }) => item.kind === 'tool_result_batch')).toHaveLength(14);
  const events = await eventsOf(sessionId);
  const ended = events.filter(({ type }) => type === 'compaction_completed').length;
  expect(ended).toBe(events.filter(({ type }) => type === 'compaction_started').length);
});

test('an idle session is compacted when somebody asks, and a second time there is nothing to do', async () => {
  const sessionId = randomUUID();
  for (const turn of [1, 2, 3]) await send(sessionId, `work 1, turn ${turn} of ${sessionId} ${'word '.repeat(150)}`);
  summariser = () => ({ text: goodSummary(`the turns of ${sessionId}`) });
  const before = await harness.client.transcript(sessionId);
  const seen = harness.provider.requests.length;
  const result = await harness.client.compact(sessionId, { instructions: 'Keep the numbers.' });
  expect(result).toMatchObject({ outcome: 'compacted', trigger: 'manual', progress: true });
  expect(harness.provider.requests[seen]?.raw).toContain('Keep the numbers.');
  expect(await harness.client.transcript(sessionId)).toEqual(before);
  const again = await harness.client.compact(sessionId);
  expect(again.outcome).toBe('nothing');
  await send(sessionId, `work 0, after in ${sessionId}`);
  expect(harness.provider.requests.at(-1)?.raw).toContain('the turns of');
});

test('every request of a compacted run can be rebuilt byte for byte', async () => {
  const sessionId = randomUUID();
  summariser = () => ({ text: goodSummary(`what happened in ${sessionId}`) });
  const seen = harness.provider.requests.length;
  const { runId } = await send(sessionId, `work 9 again in ${sessionId}`);
  const sent = harness.provider.requests.slice(seen).filter((request) => !asksForSummary(request));
  const providers = createProviderRegistry({
    providers: [fakeModel(harness.provider.baseURL)],
    default: 'fake/script',
  });
  const catalog = { facts: () => ({ windowTokens: 4000, abilities: {} }) };
  const rebuilt: string[] = [];
  for (const { step } of await harness.store.requests(runId)) {
    rebuilt.push(await rebuildRequest({ store: harness.store, providers, catalog }, runId, step));
  }
  expect(rebuilt).toEqual(sent.map(({ raw }) => raw));
  expect(await harness.store.checkpoints(sessionId)).not.toEqual([]);
});

test('what the provider refuses for its size is compacted once and asked again', async () => {
  const sessionId = randomUUID();
  await send(sessionId, `work 0, first of ${sessionId} ${'word '.repeat(900)}`);
  const text = `work 0, second of ${sessionId}`;
  summariser = () => ({ text: goodSummary(`words of ${sessionId}`) });
  harness.provider.answer = refusesOnce(text);
  const { event } = await send(sessionId, text);
  expect(event).toMatchObject({ type: 'final_response', text: `done: ${text}`, steps: 1 });
  const [result, ...more] = await results(sessionId);
  expect(result).toMatchObject({ trigger: 'overflow_retry', outcome: 'compacted' });
  expect(more).toEqual([]);
  const items = (await harness.client.transcript(sessionId)).map(({ item }) => item);
  expect(items.filter((item) => item.kind === 'user_message' && JSON.stringify(item).includes(text))).toHaveLength(1);
});

test('a second refusal straight after ends the run with a name, and no third request is made', async () => {
  const sessionId = randomUUID();
  await send(sessionId, `work 0, first of ${sessionId} ${'word '.repeat(900)}`);
  const text = `work 0, always too long in ${sessionId}`;
  harness.provider.answer = refusesAlways(text);
  const seen = harness.provider.requests.length;
  const { event } = await send(sessionId, text);
  expect(event).toMatchObject({ type: 'run_failed', error: 'ContextUnfittable' });
  const asked = harness.provider.requests.slice(seen).filter((request) => !asksForSummary(request));
  expect(asked).toHaveLength(2);
});

test.each(process.env.HOLDFAST_LONG === '1' ? ['', '   \n', 'I cannot do that.'] : ['', 'I cannot do that.'])(
  'a summary that is none (%j) leaves an idle session as it was',
  async (text) => {
    const sessionId = randomUUID();
    harness.provider.answer = answer;
    for (const turn of [1, 2]) await send(sessionId, `work 1, turn ${turn} of ${sessionId} ${'word '.repeat(200)}`);
    summariser = () => ({ text });
    const revision = await harness.store.viewRevision(sessionId);
    await expect(harness.client.compact(sessionId)).resolves.toMatchObject({
      outcome: 'failed',
      error: 'CompactionFailed',
    });
    expect(await harness.store.viewRevision(sessionId)).toBe(revision);
    expect(await harness.store.checkpoints(sessionId)).toEqual([]);
    const { event } = await send(sessionId, `work 0, on with ${sessionId}`);
    expect(event.type).toBe('final_response');
  },
);

test('a cancel while the summary is written ends the run; the session goes on', async () => {
  const sessionId = randomUUID();
  harness.provider.answer = answer;
  const started = gate();
  summariser = () => {
    started.resolve();
    return { text: ['## Goal'], hang: true };
  };
  const sent = await harness.client.send({ sessionId, text: `work 20 in ${sessionId}` });
  await started.promise;
  await harness.client.cancel(sessionId, 'enough');
  expect((await harness.client.result(sent)).event).toMatchObject({ type: 'loop_aborted', reason: 'enough' });
  expect((await results(sessionId)).at(-1)).toMatchObject({ outcome: 'cancelled' });
  expect(await harness.store.checkpoints(sessionId)).toEqual([]);
  const items = (await harness.client.transcript(sessionId)).map(({ item }) => item);
  expect(validate(items, { tail: 'closed' })).toEqual([]);
  summariser = () => ({ text: goodSummary(`cancelled work in ${sessionId}`) });
  expect((await send(sessionId, `work 0, after ${sessionId}`)).event.type).toBe('final_response');
});

test('a compaction asked for while a run works comes at its next step, and the second request is answered too', async () => {
  const sessionId = randomUUID();
  for (const turn of [1, 2]) await send(sessionId, `work 1, turn ${turn} of ${sessionId} ${'word '.repeat(200)}`);
  const summary = gate();
  summariser = async () => {
    await summary.promise;
    return { text: goodSummary(`turns of ${sessionId}`) };
  };
  const before = summaries;
  const text = `work 2, slowly in ${sessionId}`;
  harness.provider.answer = async (request) => {
    if (!asksForSummary(request)) await new Promise((resolve) => setTimeout(resolve, 300));
    return answer(request);
  };
  const sent = await harness.client.send({ sessionId, text });
  const first = harness.client.compact(sessionId);
  const second = harness.client.compact(sessionId);
  while (summaries === before) await new Promise((resolve) => setTimeout(resolve, 20));
  summary.resolve();
  expect((await first).outcome).toBe('compacted');
  expect(await second).toEqual(await first);
  expect(summaries).toBe(before + 1);
  expect((await harness.client.result(sent)).event).toMatchObject({ type: 'final_response', text: `done: ${text}` });
});

test('people who ask for nothing do not keep a run from being compacted when it must be', async () => {
  const sessionId = randomUUID();
  harness.provider.answer = async (request) => {
    if (!asksForSummary(request)) await new Promise((resolve) => setTimeout(resolve, 100));
    return answer(request);
  };
  summariser = () => ({ text: goodSummary(`the work in ${sessionId}`) });
  const sent = await harness.client.send({ sessionId, text: `work 14 in ${sessionId}` });
  for await (const { event } of harness.client.follow(sent)) if (event.type === 'run_started') break;
  for (const _ of [1, 2]) expect((await harness.client.compact(sessionId)).outcome).toBe('nothing');
  expect((await harness.client.result(sent)).event.type).toBe('final_response');
  expect((await harness.store.checkpoints(sessionId)).map(({ trigger }) => trigger)).toContain('mid_loop');
});

test('a plain signal compacts an open session too', async () => {
  const sessionId = randomUUID();
  harness.provider.answer = answer;
  summariser = () => ({ text: goodSummary(`signalled ${sessionId}`) });
  for (const turn of [1, 2]) await send(sessionId, `work 1, turn ${turn} of ${sessionId} ${'word '.repeat(200)}`);
  await harness.client.temporal.workflow.signalWithStart('agentRun', {
    workflowId: workflowIdOf(sessionId),
    taskQueue: 'holdfast',
    args: [{ sessionId }],
    signal: 'compact',
    signalArgs: [],
  });
  const end = await harness.client.temporal.workflow.getHandle(workflowIdOf(sessionId)).result();
  expect(end).toMatchObject({ status: 'completed', preview: expect.stringContaining('compacted') });
});

test('compacting a session that does not exist is refused', async () => {
  await expect(harness.client.compact('no-such-session')).rejects.toMatchObject({ code: 'NotFound' });
});

/** A promise that a test opens. */
function gate() {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((open) => {
    resolve = open;
  });
  return { promise, resolve };
}

async function results(sessionId: string) {
  const rows = await harness.store.compactionResults(sessionId);
  return rows.map(({ output }) => output);
}

const TOO_LONG: FakeAnswer = {
  status: 400,
  body: {
    error: {
      message: "This model's maximum context length is 2000 tokens. However, your messages resulted in 2400 tokens.",
      type: 'invalid_request_error',
      code: 'context_length_exceeded',
    },
  },
};

function refusesAlways(text: string) {
  return (request: SeenRequest) =>
    !asksForSummary(request) && lastUserText(request) === text ? TOO_LONG : answer(request);
}

function refusesOnce(text: string) {
  let refused = false;
  return (request: SeenRequest) => {
    if (refused || asksForSummary(request) || lastUserText(request) !== text) return answer(request);
    refused = true;
    return TOO_LONG;
  };
}
