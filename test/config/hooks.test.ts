import { expect, test } from 'vitest';
import { HOOK_POINTS, type Hook, type HookContext, runHooks } from '../../src/hooks/hooks.ts';

const context: Omit<HookContext, 'signal'> = { sessionId: 's', runId: 'r', attempt: 1 };

test('hooks of a moment are called in order with the context, others are not', async () => {
  const calls: string[] = [];
  const hook = (name: string): Hook => ({
    name,
    on: {
      beforeModel: async ({ turnIndex }) => void calls.push(`${name} ${turnIndex}`),
      afterModel: () => void calls.push('wrong'),
    },
  });
  expect(await runHooks([hook('a'), hook('b')], 'beforeModel', { ...context, turnIndex: 3 })).toEqual({ events: [] });
  expect(calls).toEqual(['a 3', 'b 3']);
});

test.each<[string, () => unknown, RegExp]>([
  [
    'throws',
    () => {
      throw new RangeError('boom');
    },
    /RangeError: boom/,
  ],
  [
    'throws no error',
    () => {
      throw null;
    },
    /threw null/,
  ],
  ['rejects', () => Promise.reject(new Error('later')), /later/],
  ['never settles', () => new Promise(() => undefined), /longer than 20 ms/],
])('a hook that %s is contained, told, and the next one still runs', async (_, fail, message) => {
  let next = 0;
  const hooks: Hook[] = [
    { name: 'bad', timeoutMs: 20, on: { onRunEnd: fail } },
    {
      name: 'good',
      on: {
        onRunEnd: () => {
          next += 1;
        },
      },
    },
  ];
  const { events, veto } = await runHooks(hooks, 'onRunEnd', context);
  expect(events).toEqual([{ type: 'hook_failed', hook: 'bad.onRunEnd', message: expect.stringMatching(message) }]);
  expect([next, veto]).toEqual([1, undefined]);
});

test('a hook that takes too long has its signal aborted', async () => {
  let signal: AbortSignal | undefined;
  const slow: Hook = {
    name: 's',
    timeoutMs: 5,
    on: {
      onError: (given) => {
        signal = given.signal;
        return new Promise(() => undefined);
      },
    },
  };
  await runHooks([slow], 'onError', context);
  expect(signal?.aborted).toBe(true);
});

test('only beforeTool may veto, and the first veto ends the round', async () => {
  let later = 0;
  const on = Object.fromEntries(HOOK_POINTS.map((point) => [point, () => ({ veto: 'not on Fridays' })]));
  const hooks: Hook[] = [
    { name: 'v', on },
    {
      name: 'later',
      on: {
        beforeTool: () => {
          later += 1;
        },
      },
    },
  ];
  for (const point of HOOK_POINTS) {
    const { veto } = await runHooks(hooks, point, context);
    expect(veto).toEqual(point === 'beforeTool' ? { hook: 'v', reason: 'not on Fridays' } : undefined);
  }
  expect(later).toBe(0);
});

test('a failing hook does not count as a veto', async () => {
  const { veto } = await runHooks(
    [
      {
        name: 'v',
        on: {
          beforeTool: () => {
            throw { veto: 'x' };
          },
        },
      },
    ],
    'beforeTool',
    context,
  );
  expect(veto).toBeUndefined();
});
