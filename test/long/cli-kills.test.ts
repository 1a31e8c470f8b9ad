import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type SlowModel, startSlowModel } from '../cli/slow-model.ts';

let slow: SlowModel;
beforeEach(async () => {
  slow = await startSlowModel();
});
afterEach(() => slow.stop());

test('the two signals that npm makes of one Ctrl-C count once', async () => {
  const running = await slow.streaming();
  running.child.kill('SIGINT');
  running.child.kill('SIGINT');
  const { out } = await running.finished;
  expect(out).toContain('loop_aborted');
});

test('a second Ctrl-C leaves at once with nothing left running, even when the worker hangs', async () => {
  const running = await slow.streaming();
  const worker = slow.workspace.leftovers().find((line) => line.includes('worker.js'));
  process.kill(Number(worker?.trim().split(' ')[0]), 'SIGSTOP');
  running.child.kill('SIGINT');
  await running.printed('Cancelling');
  await delay(300);
  running.child.kill('SIGINT');
  expect((await running.finished).code).toBe(130);
  await expect.poll(() => slow.workspace.leftovers()).toEqual([]);
});

test('when the command is killed its worker ends, and the next command ends its server', async () => {
  const { provider, workspace } = slow;
  const running = await slow.streaming();
  running.child.kill('SIGKILL');
  await running.finished;
  await expect
    .poll(() => workspace.leftovers().filter((line) => line.includes('worker.js')), { timeout: 20_000 })
    .toEqual([]);
  provider.answer = () => ({ text: 'Short now.' });
  const { code, err } = await workspace.run(['run', '--session', 'other', 'Again.']);
  expect(err).toContain('Temporal dev server of this folder');
  expect(code).toBe(0);
  expect(workspace.leftovers()).toEqual([]);
});

test('a busy session refuses another run and names the open one', async () => {
  const running = await slow.streaming();
  const { code, err } = await slow.workspace.run(['run', '--session', 's', 'Me too.']);
  expect(err).toMatch(/session s is busy with run [0-9a-f-]{36}/);
  expect(code).toBe(4);
  expect((await slow.workspace.run(['cancel', 's', '--reason', 'enough'])).code).toBe(0);
  const { code: first, out } = await running.finished;
  expect(out).toContain('enough');
  expect(first).toBe(130);
});
