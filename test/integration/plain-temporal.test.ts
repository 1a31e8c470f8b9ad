import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { type Harness, startHarness } from './harness.ts';
import { lastUserText, turnOf, workTool } from './scripts.ts';

const run = promisify(execFile);
let harness: Harness;

beforeAll(async () => {
  harness = await startHarness({
    tools: [workTool],
    answer: (request) => {
      const text = lastUserText(request);
      if (text === 'hang') return { text: 'thinking', hang: true };
      return turnOf(request) === 0 ? { calls: [{ name: 'work', args: { n: 1 } }] } : { text: `done: ${text}` };
    },
  });
});
afterAll(() => harness.stop());

/** The real CLI of Temporal, as the documentation shows it. */
async function temporal(...args: string[]): Promise<string> {
  const { address, binary } = inject('temporal');
  const { stdout } = await run(binary, [...args, '--address', address, '--namespace', harness.namespace]);
  return stdout;
}

describe("Temporal's own CLI", () => {
  const start = (sessionId: string, prompt: string) =>
    temporal(
      ...['workflow', 'start', '--type', 'agentRun', '--task-queue', 'holdfast'],
      ...['--workflow-id', `session/${sessionId}`, '--input', JSON.stringify({ sessionId, prompt })],
    );

  test('starts a run, and shows how it ended', async () => {
    await start('demo', 'hello');
    const result = await temporal('workflow', 'result', '--workflow-id', 'session/demo', '--output', 'json');
    expect(JSON.parse(result)).toMatchObject({
      status: 'COMPLETED',
      result: { status: 'completed', preview: 'done: hello' },
    });
    const shown = await temporal('workflow', 'show', '--workflow-id', 'session/demo');
    expect(shown).toContain('WorkflowExecutionCompleted');
    expect((await harness.client.transcript('demo')).at(-1)?.item).toMatchObject({
      content: [{ text: 'done: hello' }],
    });
  });

  test('cancels by the signal, with and without a reason', async () => {
    for (const [session, input] of [
      ['with', ['--input', '{"reason":"enough"}']],
      ['without', []],
    ] as const) {
      await start(session, 'hang');
      await expect.poll(async () => (await harness.client.runs(session)).length).toBe(1);
      await temporal('workflow', 'signal', '--workflow-id', `session/${session}`, '--name', 'cancel', ...input);
      const result = await temporal('workflow', 'result', '--workflow-id', `session/${session}`, '--output', 'json');
      expect(JSON.parse(result)).toMatchObject({ status: 'COMPLETED', result: { status: 'cancelled' } });
    }
  });

  test('asks what a run is doing', async () => {
    await start('asked', 'hang');
    await expect.poll(async () => (await harness.client.runs('asked')).length).toBe(1);
    const answer = await temporal('workflow', 'query', '--workflow-id', 'session/asked', '--type', 'status');
    expect(answer).toContain('waiting for fake/script');
    await harness.client.cancel('asked');
  });
});

test("Temporal's TypeScript client starts and reads a run by the documented names", async () => {
  const connection = await Connection.connect({ address: inject('temporal').address });
  try {
    const client = new Client({ connection, namespace: harness.namespace });
    const result = await client.workflow.execute('agentRun', {
      taskQueue: 'holdfast',
      workflowId: 'session/plain',
      args: [{ sessionId: 'plain', prompt: 'hi' }],
    });
    expect(result).toMatchObject({ sessionId: 'plain', status: 'completed', preview: 'done: hi' });
  } finally {
    await connection.close();
  }
});
