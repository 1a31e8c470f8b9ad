import { expect, test } from 'vitest';
import { z } from 'zod';
import type { HookContext, HookPoint } from '../../src/hooks/hooks.ts';
import { HOOK_POINTS } from '../../src/hooks/hooks.ts';
import { defineTool } from '../../src/tools/define-tool.ts';
import { createPolicy } from '../../src/tools/policy.ts';
import { validate } from '../../src/transcript/validate.ts';
import { startHarness } from './harness.ts';
import { turnOf } from './scripts.ts';

const deleted: string[] = [];
const remove = defineTool({
  name: 'remove',
  description: 'Removes a file.',
  input: z.object({ path: z.string() }),
  annotations: { idempotentHint: true },
  execute: ({ path }) => {
    deleted.push(path);
    if (path === 'missing') throw new Error('no such file');
    return `removed ${path}`;
  },
});

const seen: (readonly [HookPoint, HookContext])[] = [];
const watcher = {
  name: 'watcher',
  on: Object.fromEntries(
    HOOK_POINTS.map((point) => [point, (context: HookContext) => void seen.push([point, context])]),
  ),
};
const guard = {
  name: 'guard',
  on: {
    beforeTool: ({ tool }: HookContext) =>
      tool?.arguments.path === 'precious' ? { veto: 'it is precious' } : undefined,
    afterModel: () => {
      throw new Error('the dashboard is down');
    },
    beforeCompaction: () => {
      throw new Error('no room for a backup');
    },
    onRunEnd: () => new Promise(() => undefined),
  },
  timeoutMs: 50,
};

test('hooks see each moment, one forbids a call, and those that fail break nothing and are told', async () => {
  const harness = await startHarness({
    tools: [remove],
    hooks: [watcher, guard],
    policy: createPolicy([{ decision: 'allow' }]),
    answer: (request) => {
      if (turnOf(request) > 0) return { text: 'done' };
      const paths = ['old', 'precious', 'missing'];
      return { calls: paths.map((path) => ({ name: 'remove', args: { path } })) };
    },
  });
  const { event, runId } = await harness.client.result(await harness.client.send({ sessionId: 's', text: 'go' }));
  await harness.client.compact('s');
  const compacting = (await harness.store.runs('s')).at(-1)?.runId ?? '';
  const inCompaction = (await harness.store.events(compacting)).map((recorded) => recorded.event);
  const entries = await harness.client.transcript('s');
  const events = (await harness.store.events(runId)).map((recorded) => recorded.event);
  await harness.stop();

  expect(event).toMatchObject({ type: 'final_response', text: 'done' });
  expect(
    validate(
      entries.map(({ item }) => item),
      { tail: 'closed' },
    ),
  ).toEqual([]);
  expect(deleted.sort()).toEqual(['missing', 'old']);
  const results = entries.flatMap(({ item }) => (item.kind === 'tool_result_batch' ? item.results : []));
  expect(results.map(({ status }) => status)).toEqual(['ok', 'denied', 'error']);
  expect(JSON.stringify(results[1])).toContain('it is precious');

  const points = seen.map(([point]) => point);
  const count = (wanted: HookPoint) => points.filter((point) => point === wanted).length;
  expect([count('beforeModel'), count('afterModel'), count('beforeTool'), count('afterTool')]).toEqual([2, 2, 3, 2]);
  expect(count('onError')).toBe(1);
  expect(seen.find(([point]) => point === 'onRunEnd')?.[1]).toMatchObject({ runId, detail: { status: 'completed' } });
  expect([count('beforeCompaction'), count('afterCompaction')]).toEqual([1, 1]);
  expect(inCompaction).toContainEqual({
    type: 'hook_failed',
    hook: 'guard.beforeCompaction',
    message: 'Error: no room for a backup',
  });
  const [, first] = seen[0] ?? [];
  expect(first).toMatchObject({ sessionId: 's', runId, attempt: 1, turnIndex: 0, request: { model: 'script' } });
  expect(first).not.toHaveProperty('planStepIndex');

  const failures = events.flatMap((one) => (one.type === 'hook_failed' ? [`${one.hook}: ${one.message}`] : []));
  expect(failures).toEqual([
    'guard.afterModel: Error: the dashboard is down',
    'guard.afterModel: Error: the dashboard is down',
    'guard.onRunEnd: took longer than 50 ms',
  ]);
});
