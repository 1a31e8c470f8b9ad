import { afterEach, describe, expect, test } from 'vitest';
import { validate } from '../../src/transcript/validate.ts';
import type { FakeAnswer, SeenRequest } from '../fakes/fake-provider.ts';
import { turnOf } from '../integration/scripts.ts';
import { type Processes, startProcesses, toolStarts } from './processes.ts';

let processes: Processes;
afterEach(() => processes.stop());

/** Five steps with tools; at step 2 the tool sleeps, or the model takes its time, as the test says. */
function script(slow: 'tool' | 'stream'): (request: SeenRequest) => FakeAnswer {
  return (request) => {
    const turn = turnOf(request);
    if (turn >= 5) return { text: 'done after 5' };
    const answer = { calls: [{ name: 'work', args: { n: turn, sleepMs: slow === 'tool' && turn === 2 ? 4000 : 0 } }] };
    if (slow === 'stream' && turn === 2)
      return { ...answer, text: Array.from({ length: 40 }, (_, n) => `word ${n} `), chunkDelayMs: 100 };
    return { ...answer, text: `turn ${turn}` };
  };
}

const requestsOfTurn = (turn: number): number =>
  processes.provider.requests.filter((request) => turnOf(request) === turn).length;

async function untilSlow(slow: 'tool' | 'stream'): Promise<void> {
  if (slow === 'tool') await expect.poll(() => toolStarts(processes).filter(({ n }) => n === 2).length).toBe(1);
  else await expect.poll(() => requestsOfTurn(2)).toBe(1);
  await new Promise((resolve) => setTimeout(resolve, 700));
}

/** What must hold after any disturbance. `redone`: the turn whose model call was not committed when it struck. */
async function expectWhole(sent: { sessionId: string; messageId: string }, redone?: number): Promise<void> {
  const { event, runId } = await processes.client.result(sent);
  expect(event).toMatchObject({ type: 'final_response', text: 'done after 5', answers: [sent.messageId] });
  const entries = await processes.client.transcript(sent.sessionId);
  const items = entries.map((entry) => entry.item);
  expect(validate(items, { tail: 'closed', seqs: entries.map((entry) => entry.seq) })).toEqual([]);
  const results = items.flatMap((item) => (item.kind === 'tool_result_batch' ? item.results : []));
  expect(results.map(({ status }) => status)).toEqual(Array.from({ length: 5 }, () => 'ok'));
  expect(new Set(results.map(({ callId }) => callId)).size).toBe(5);
  for (const turn of [0, 1, 2, 3, 4, 5]) expect([turn, requestsOfTurn(turn)]).toEqual([turn, turn === redone ? 2 : 1]);
  const events = await processes.client.store.events(runId);
  expect(events.map(({ index }) => index)).toEqual(events.map((_, index) => index));
}

describe('kill -9 of the worker', () => {
  test('in mid-tool: another one goes on, nothing is there twice', async () => {
    processes = await startProcesses(script('tool'));
    const worker = await processes.startWorker();
    const sent = await processes.client.send({ sessionId: 'tool', text: 'go' });
    await untilSlow('tool');
    worker.signal('SIGKILL');
    await processes.startWorker();
    await expectWhole(sent);
    expect(
      toolStarts(processes)
        .filter(({ n }) => n === 2)
        .map(({ attempt }) => attempt),
    ).toEqual([1, 2]);
  });

  test('in mid-stream: the call that was not committed is made again, no other', async () => {
    processes = await startProcesses(script('stream'));
    const worker = await processes.startWorker();
    const sent = await processes.client.send({ sessionId: 'stream', text: 'go' });
    await untilSlow('stream');
    worker.signal('SIGKILL');
    await processes.startWorker();
    await expectWhole(sent, 2);
  });
});

describe('SIGSTOP of the worker until a second one has taken over, then SIGCONT', () => {
  test.each(['tool', 'stream'] as const)('in mid-%s: the late writer is fenced', async (slow) => {
    processes = await startProcesses(script(slow));
    const first = await processes.startWorker();
    const sent = await processes.client.send({ sessionId: slow, text: 'go' });
    await untilSlow(slow);
    first.signal('SIGSTOP');
    await processes.startWorker();
    if (slow === 'tool')
      await expect.poll(() => toolStarts(processes).filter(({ n }) => n === 2).length, { timeout: 150_000 }).toBe(2);
    else await expect.poll(() => requestsOfTurn(2), { timeout: 150_000 }).toBe(2);
    await new Promise((resolve) => setTimeout(resolve, 300));
    first.signal('SIGCONT');
    await expectWhole(sent, slow === 'stream' ? 2 : undefined);
    await expect.poll(() => first.log(), { timeout: 15_000 }).toContain('Fenced');
  });
});

describe('kill -9 of the dev server', () => {
  test.each(['tool', 'stream'] as const)('in mid-%s: the run completes after its restart', async (slow) => {
    processes = await startProcesses(script(slow));
    await processes.startWorker();
    const sent = await processes.client.send({ sessionId: slow, text: 'go' });
    await untilSlow(slow);
    processes.killServer();
    await new Promise((resolve) => setTimeout(resolve, 1000));
    await processes.restartServer();
    const redone = await processes.client.result(sent).then(() => (requestsOfTurn(2) === 2 ? 2 : undefined));
    await expectWhole(sent, redone);
  });
});
