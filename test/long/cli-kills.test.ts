import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Running, Workspace } from '../cli/workspace.ts';
import { type FakeProvider, startFakeProvider } from '../fakes/fake-provider.ts';

let provider: FakeProvider;
let slow: Workspace;

beforeEach(async () => {
  provider = await startFakeProvider(() => ({ text: Array(8000).fill('word '), chunkDelayMs: 50 }));
  slow = new Workspace({ HOLDFAST_MODEL: 'openai/m', OPENAI_API_KEY: 'k', OPENAI_BASE_URL: provider.baseURL });
});
afterEach(async () => {
  slow.dispose();
  await provider.close();
});

/** A run whose answer is just being written. */
async function streaming(): Promise<Running> {
  const running = slow.start(['run', '--session', 's', '--output', 'ndjson', 'Talk.']);
  await running.printed('assistant_text_delta');
  return running;
}

test('a second Ctrl-C leaves at once with nothing left running, even when the worker hangs', async () => {
  const running = await streaming();
  const worker = slow.leftovers().find((line) => line.includes('worker.js'));
  process.kill(Number(worker?.trim().split(' ')[0]), 'SIGSTOP');
  running.child.kill('SIGINT');
  await running.printed('Cancelling');
  await delay(300);
  running.child.kill('SIGINT');
  expect((await running.finished).code).toBe(130);
  await expect.poll(() => slow.leftovers()).toEqual([]);
});

test('when the command is killed its worker ends, and the next command ends its server', async () => {
  const running = await streaming();
  running.child.kill('SIGKILL');
  await running.finished;
  await expect
    .poll(() => slow.leftovers().filter((line) => line.includes('worker.js')), { timeout: 20_000 })
    .toEqual([]);
  provider.answer = () => ({ text: 'Short now.' });
  const { code, err } = await slow.run(['run', '--session', 'other', 'Again.']);
  expect(err).toContain('Temporal dev server of this folder');
  expect(code).toBe(0);
  expect(slow.leftovers()).toEqual([]);
});
