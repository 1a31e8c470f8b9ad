import { describe, expect, test } from 'vitest';
import { createDelegate, delegationDepth, isDelegate } from '../../src/tools/delegate.ts';
import { effectClass } from '../../src/tools/effect-class.ts';
import { runTool } from '../../src/tools/invoke.ts';
import { toolContext } from './context.ts';

const delegate = createDelegate([{ name: 'scout', description: 'Reads fast.' }, { name: 'critic' }]);
const textOf = async (args: Record<string, string>, sessionId: string): Promise<string> => {
  const { status, blocks } = await runTool(delegate, args, toolContext({ sessionId }));
  return `${status}: ${JSON.stringify(blocks)}`;
};

describe('delegate', () => {
  test('tells whom a task can be given to, and for what', () => {
    expect(delegate.description).toMatch(/- scout: Reads fast\.\n- critic$/);
    expect(delegate.inputSchema).toMatchObject({ properties: { agent: { enum: ['scout', 'critic'] } } });
    expect(effectClass(delegate)).toBe('read_only');
    expect(delegate.label({ agent: 'scout', task: 'look around' })).toBe('delegate scout: look around');
  });

  test('is known by itself, not by its name', () => {
    expect(isDelegate(delegate)).toBe(true);
    expect(isDelegate({ ...delegate })).toBe(false);
  });

  test.each([
    ['nobody of that name', { agent: 'nobody', task: 'x' }, 's', /Invalid arguments.*agent/],
    ['no task', { agent: 'scout', task: ' \n' }, 's', /Invalid arguments.*expected the task in words/],
    ['passed on too often', { agent: 'scout', task: 'x' }, 's/sub/a/sub/b/sub/c', /passed on 3 times at most/],
    ['a changed configuration', { agent: 'scout', task: 'x' }, 's/sub/a/sub/b', /given to nobody/],
  ])('says why a task went nowhere: %s', async (_, args, sessionId, said) => {
    expect(await textOf(args, sessionId)).toMatch(said);
    expect(await textOf(args, sessionId)).toMatch(/^error: /);
  });
});

test('the depth of a session stands in its id', () => {
  expect(['s', 's/sub/a', 's/sub/a/sub/b', 'sub'].map(delegationDepth)).toEqual([0, 1, 2, 0]);
});
