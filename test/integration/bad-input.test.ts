import { renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AGENT_RUN } from '../../src/contract/identity.ts';
import { type Harness, type HarnessOptions, startHarness } from './harness.ts';
import { lastUserText, turnOf, workTool } from './scripts.ts';

let harness: Harness;

beforeAll(async () => {
  harness = await startHarness({
    tools: [workTool],
    agent: { maxToolTurns: 2 },
    answer: (request) => {
      const text = lastUserText(request);
      if (text === 'slow' && turnOf(request) === 0) return { calls: [{ name: 'work', args: { n: 1, sleepMs: 2000 } }] };
      if (text === 'forever') return { calls: [{ name: 'work', args: { n: turnOf(request) } }] };
      if (text === 'unknown tool' && turnOf(request) === 0) return { calls: [{ name: 'no_such_tool', args: {} }] };
      if (text === 'no key')
        return {
          status: 401,
          body: { error: { message: 'bad key', type: 'invalid_request_error', code: 'invalid_api_key' } },
        };
      return { text: `done: ${text}` };
    },
  });
});
afterAll(() => harness.stop());

describe('bad input is refused in one sentence and loses nothing', () => {
  test('an empty prompt, before anything starts', async () => {
    await expect(harness.client.send({ sessionId: 'empty', text: ' \n' })).rejects.toMatchObject({
      code: 'InvalidInput',
      message: 'the message is empty',
    });
    expect(await harness.store.session('empty')).toBeUndefined();
  });

  test('a session id that is none', async () => {
    await expect(harness.client.send({ sessionId: '../etc', text: 'x' })).rejects.toMatchObject({
      code: 'InvalidInput',
    });
  });

  test('an unknown agent: the message ends in run_failed and is kept', async () => {
    const sent = await harness.client.send({ sessionId: 'agent', text: 'hello', agent: 'nobody' });
    expect((await harness.client.result(sent)).event).toMatchObject({
      type: 'run_failed',
      error: 'UnknownAgent',
      message: expect.stringContaining('nobody'),
    });
    expect((await harness.client.transcript('agent')).map((entry) => entry.item.kind)).toEqual(['user_message']);
  });

  test('an unknown model', async () => {
    const sent = await harness.client.send({ sessionId: 'model', text: 'hello', model: 'nowhere/gpt' });
    expect((await harness.client.result(sent)).event).toMatchObject({
      type: 'run_failed',
      error: 'UnknownModel',
      message: expect.stringContaining('nowhere'),
    });
  });

  test('a busy session: start names the open run, and that run goes on', async () => {
    const first = await harness.client.start({ sessionId: 'busy', text: 'slow' });
    await expect.poll(() => harness.store.runOfMessage('busy', first.messageId)).toBeDefined();
    const runId = await harness.store.runOfMessage('busy', first.messageId);
    await expect(harness.client.start({ sessionId: 'busy', text: 'me too' })).rejects.toMatchObject({
      code: 'SessionBusy',
      message: expect.stringContaining(String(runId)),
    });
    expect((await harness.client.result(first)).event.type).toBe('final_response');
  });

  test('a wrong workflow id: SessionLockMismatch', async () => {
    const run = harness.client.temporal.workflow.execute(AGENT_RUN, {
      taskQueue: 'holdfast',
      workflowId: 'anything',
      args: [{ sessionId: 'x', prompt: 'hi' }],
    });
    await expect(run).rejects.toMatchObject({ cause: { type: 'SessionLockMismatch' } });
  });

  test('a store from elsewhere: StoreMismatch, and nothing is written', async () => {
    const run = harness.client.temporal.workflow.execute(AGENT_RUN, {
      taskQueue: 'holdfast',
      workflowId: 'session/elsewhere',
      args: [{ sessionId: 'elsewhere', prompt: 'hi', storeId: 'some-other-store' }],
    });
    await expect(run).rejects.toMatchObject({ cause: { type: 'StoreMismatch' } });
    expect(await harness.store.session('elsewhere')).toBeUndefined();
  });

  test('too many steps: MaxToolTurns, and every call has a result', async () => {
    const sent = await harness.client.send({ sessionId: 'forever', text: 'forever' });
    expect((await harness.client.result(sent)).event).toMatchObject({ type: 'run_failed', error: 'MaxToolTurns' });
    const last = (await harness.client.transcript('forever')).at(-1)?.item;
    expect(last).toMatchObject({ kind: 'tool_result_batch', results: [{ status: 'aborted' }] });
    await expect(harness.client.temporal.workflow.getHandle('session/forever').result()).rejects.toMatchObject({
      cause: { type: 'MaxToolTurns' },
    });
  });

  test('a tool that does not exist: the model is told, and goes on', async () => {
    const sent = await harness.client.send({ sessionId: 'unknown-tool', text: 'unknown tool' });
    expect((await harness.client.result(sent)).event).toMatchObject({ type: 'final_response' });
    const results = (await harness.client.transcript('unknown-tool')).find(
      (entry) => entry.item.kind === 'tool_result_batch',
    )?.item;
    expect(JSON.stringify(results)).toContain('no_such_tool');
  });

  test('a key that the provider refuses: ProviderFailed at once, no retry', async () => {
    const before = harness.provider.requests.length;
    const sent = await harness.client.send({ sessionId: 'key', text: 'no key' });
    expect((await harness.client.result(sent)).event).toMatchObject({ type: 'run_failed', error: 'ProviderFailed' });
    expect(harness.provider.requests.length).toBe(before + 1);
  });

  test('a store restored from a backup under an open run: StoreBehind, and the next message goes on', async () => {
    const answer: HarnessOptions['answer'] = (request) => {
      if (lastUserText(request) !== 'slow') return { text: 'fine' };
      return { calls: [{ name: 'work', args: { n: 1, sleepMs: 120_000 } }] };
    };
    const before = await startHarness({ tools: [workTool], answer });
    const file = join(before.folder, 'holdfast.db');
    await before.client.result(await before.client.send({ sessionId: 'b', text: 'one' }));
    const raw = new Database(file);
    await raw.backup(`${file}.backup`);
    raw.close();
    await before.client.send({ sessionId: 'b', text: 'slow' });
    await expect.poll(async () => (await before.client.transcript('b')).length).toBe(4);
    await before.stop({ keep: true });
    for (const suffix of ['', '-wal', '-shm']) rmSync(`${file}${suffix}`, { force: true });
    renameSync(`${file}.backup`, file);

    const after = await startHarness({ tools: [workTool], answer, resume: before });
    try {
      const { temporal } = after.client;
      await expect(temporal.workflow.getHandle('session/b').result()).rejects.toMatchObject({
        cause: { type: 'StoreBehind' },
      });
      expect((await after.client.transcript('b')).length).toBe(2);
      const next = await after.client.result(await after.client.send({ sessionId: 'b', text: 'go on' }));
      expect(next.event).toMatchObject({ type: 'final_response', text: 'fine' });
    } finally {
      await after.stop();
    }
  });
});
