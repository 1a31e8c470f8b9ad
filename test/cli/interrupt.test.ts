import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type SlowModel, startSlowModel } from './slow-model.ts';
import { externalServer, jsonLines } from './workspace.ts';

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

let slow: SlowModel;
beforeEach(async () => {
  slow = await startSlowModel();
});
afterEach(() => slow.stop());

test('Ctrl-C cancels the run, the far end sees it, and the next run of the session works', async () => {
  const { provider, workspace } = slow;
  const running = await slow.streaming();
  running.child.kill('SIGINT');
  const { code, out, err } = await running.finished;
  expect(err).toContain('Cancelling');
  expect(jsonLines(out).at(-1)).toMatchObject({ type: 'loop_aborted' });
  expect(code).toBe(130);
  expect(provider.requests[0]?.abortedAt).toBeDefined();
  expect(workspace.leftovers()).toEqual([]);
  provider.answer = () => ({ text: 'Short now.' });
  expect(await workspace.run(['run', '--session', 's', 'Again.'])).toMatchObject({ code: 0, out: 'Short now.\n' });
});

test('a run that fails ends with 1 and says why', async () => {
  slow.provider.answer = () => ({
    status: 401,
    body: { error: { message: 'Incorrect API key provided', code: 'invalid_api_key' } },
  });
  const { code, err, out } = await slow.workspace.run(['run', 'Talk.'], externalServer());
  expect(err).toMatch(/Incorrect API key/);
  expect({ code, out }).toEqual({ code: 1, out: '' });
});
