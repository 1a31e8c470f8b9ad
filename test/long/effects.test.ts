import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import type { ToolResult } from '../../src/transcript/items.ts';
import { validate } from '../../src/transcript/validate.ts';
import type { FakeAnswer, SeenRequest } from '../fakes/fake-provider.ts';
import { turnOf } from '../integration/scripts.ts';
import { type Processes, startProcesses, type WorkerProcess } from './processes.ts';

let processes: Processes;
afterEach(() => processes.stop());

/**
 * Tools with an effect each: a line in `effects.log`, written after `beforeMs` and followed by `afterMs` of waiting. The
 * one that can reconcile looks for its line.
 */
const TOOLS = `
import { appendFileSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { defineAgent, defineConfig, defineTool } from 'holdfast';
import { z } from 'zod';

const log = new URL('./effects.log', import.meta.url);
const lines = () => { try { return readFileSync(log, 'utf8').trim().split('\\n').map((line) => JSON.parse(line)); } catch { return []; } };
const note = (what, { idempotencyKey, attempt }) =>
  appendFileSync(log, JSON.stringify({ what, key: idempotencyKey, attempt, pid: process.pid }) + '\\n');
const input = z.object({ beforeMs: z.number(), afterMs: z.number() });
const execute = async ({ beforeMs, afterMs }, context) => {
  note('begin', context);
  await delay(beforeMs);
  note('effect', context);
  await delay(afterMs);
  return 'sent ' + context.idempotencyKey;
};
const plain = defineTool({ name: 'plain', description: 'Sends.', input, execute });
const known = defineTool({
  name: 'known', description: 'Sends.', input, execute,
  reconcile: async (_, { idempotencyKey }) =>
    lines().some(({ what, key }) => what === 'effect' && key === idempotencyKey)
      ? { outcome: 'done', output: 'found ' + idempotencyKey }
      : { outcome: 'not_done' },
});
const again = defineTool({ name: 'again', description: 'Sends.', input, annotations: { idempotentHint: true }, execute });
`;

async function start(answer: (request: SeenRequest) => FakeAnswer): Promise<WorkerProcess> {
  processes = await startProcesses(answer, {
    tools: TOOLS,
    names: ['plain', 'known', 'again'],
    approvals: [{ decision: 'allow' }],
  });
  return processes.startWorker();
}

/** Calls the tool once, then repeats what it was told. */
const once =
  (name: string, args: { beforeMs: number; afterMs: number }) =>
  (request: SeenRequest): FakeAnswer =>
    turnOf(request) === 0 ? { calls: [{ name, args }] } : { text: 'done' };

interface Line {
  readonly what: 'begin' | 'effect';
  readonly key: string;
  readonly attempt: number;
}

function effects(what: Line['what'] = 'effect'): Line[] {
  try {
    const text = readFileSync(join(processes.folder, 'effects.log'), 'utf8').trim();
    return text
      .split('\n')
      .map((line): Line => JSON.parse(line))
      .filter((line) => line.what === what);
  } catch {
    return [];
  }
}

async function resultsOf(sent: { sessionId: string; messageId: string }): Promise<ToolResult[]> {
  expect((await processes.client.result(sent)).event).toMatchObject({ type: 'final_response', text: 'done' });
  const entries = await processes.client.transcript(sent.sessionId);
  const items = entries.map(({ item }) => item);
  expect(validate(items, { tail: 'closed', seqs: entries.map(({ seq }) => seq) })).toEqual([]);
  return items.flatMap((item) => (item.kind === 'tool_result_batch' ? item.results : []));
}

describe('kill -9 of the worker in mid-effect', () => {
  test('a tool that cannot tell what became of it is not run again: its outcome is unknown', async () => {
    const worker = await start(once('plain', { beforeMs: 0, afterMs: 60_000 }));
    const sent = await processes.client.send({ sessionId: 's', text: 'go' });
    await expect.poll(() => effects().length).toBe(1);
    worker.signal('SIGKILL');
    await processes.startWorker();
    expect(await resultsOf(sent)).toMatchObject([{ status: 'unknown_outcome' }]);
    expect(effects('begin')).toHaveLength(1);
  });

  test('a tool that can tell answers for its lost attempt, which is not repeated', async () => {
    const worker = await start(once('known', { beforeMs: 0, afterMs: 60_000 }));
    const sent = await processes.client.send({ sessionId: 's', text: 'go' });
    await expect.poll(() => effects().length).toBe(1);
    worker.signal('SIGKILL');
    await processes.startWorker();
    const [result] = await resultsOf(sent);
    expect(result).toMatchObject({ status: 'ok', content: [{ text: `found ${effects()[0]?.key}` }] });
    expect(effects('begin')).toHaveLength(1);
  });

  test('a tool that can tell that nothing happened is run once more, under the same key', async () => {
    const worker = await start(once('known', { beforeMs: 3000, afterMs: 0 }));
    const sent = await processes.client.send({ sessionId: 's', text: 'go' });
    await expect.poll(() => effects('begin').length).toBe(1);
    worker.signal('SIGKILL');
    await processes.startWorker();
    expect(await resultsOf(sent)).toMatchObject([{ status: 'ok' }]);
    expect(effects()).toHaveLength(1);
    expect(new Set(effects('begin').map(({ key }) => key)).size).toBe(1);
    expect(effects('begin')).toHaveLength(2);
  });

  test('an idempotent tool is simply run again, under the same key', async () => {
    const worker = await start(once('again', { beforeMs: 0, afterMs: 4000 }));
    const sent = await processes.client.send({ sessionId: 's', text: 'go' });
    await expect.poll(() => effects().length).toBe(1);
    worker.signal('SIGKILL');
    await processes.startWorker();
    expect(await resultsOf(sent)).toMatchObject([{ status: 'ok' }]);
    expect(effects().map(({ attempt }) => attempt)).toEqual([1, 2]);
    expect(new Set(effects().map(({ key }) => key)).size).toBe(1);
  });
});

test('a worker that was frozen until its call was given up tells what it did, once', async () => {
  const first = await start((request) => {
    // What is told late is a message too, so turns are counted from the start.
    const turn = request.body.messages.filter(({ role }: { role: string }) => role === 'assistant').length;
    if (turn === 0) return { calls: [{ name: 'plain', args: { beforeMs: 0, afterMs: 3000 } }] };
    // Time for the frozen worker to wake up and tell.
    if (turn === 1) return { calls: [{ name: 'again', args: { beforeMs: 0, afterMs: 15_000 } }] };
    return { text: 'done' };
  });
  const sent = await processes.client.send({ sessionId: 's', text: 'go' });
  await expect.poll(() => effects().length).toBe(1);
  first.signal('SIGSTOP');
  await processes.startWorker();
  await expect.poll(() => effects().length, { timeout: 120_000 }).toBe(2);
  first.signal('SIGCONT');
  const results = await resultsOf(sent);
  expect(results).toMatchObject([{ status: 'unknown_outcome' }, { status: 'ok' }]);
  expect(effects('begin').filter(({ key }) => key === results[0]?.callId)).toHaveLength(1);
  const late =
    JSON.stringify(processes.provider.requests.at(-1)?.body).split('This is what really happened').length - 1;
  expect(late).toBe(1);
  expect(JSON.stringify(processes.provider.requests.at(-1)?.body)).toContain(`sent ${results[0]?.callId}`);
});
