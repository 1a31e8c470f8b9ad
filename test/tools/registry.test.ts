import { expect, test } from 'vitest';
import { defineTool } from '../../src/tools/define-tool.ts';
import { effectClass } from '../../src/tools/effect-class.ts';
import { createToolRegistry } from '../../src/tools/registry.ts';

const named = (name: string) => defineTool({ name, description: `about ${name}`, execute: () => name });

test('a tool is found by its own name and by the one it has on the wire', () => {
  const tool = named('admin.tools list');
  const registry = createToolRegistry([named('other'), tool]);
  expect(registry.get('admin.tools list')).toBe(tool);
  expect(registry.get('admin_tools_list')).toBe(tool);
  expect(registry.get('constructor')).toBeUndefined();
});

test.each([
  [['execute_sql', 'execute_sql'], /two tools with the name "execute_sql"/],
  [['a.b', 'a_b'], /"a\.b" and "a_b" would both be called "a_b"/],
  [['a_b', 'a.b'], /"a_b" and "a\.b" would both be called "a_b"/],
  [['a.b', 'a/b'], /would both be called/],
])('%j is refused by name', (names, error) => {
  expect(() => createToolRegistry(names.map(named))).toThrow(error);
});

test('where effects are not allowed only read-only tools get in', () => {
  const reader = defineTool({ name: 'r', description: 'd', annotations: { readOnlyHint: true }, execute: () => 1 });
  expect(createToolRegistry([reader], { allowEffects: false }).tools).toHaveLength(1);
  expect(() => createToolRegistry([reader, named('w')], { allowEffects: false })).toThrow(
    /"w" is not marked read-only/,
  );
  expect(createToolRegistry([named('w')]).tools).toHaveLength(1);
});

test('the model is told of the tools in the order of registration', () => {
  const { specs } = createToolRegistry([named('b'), named('a')]);
  expect(specs).toEqual([
    { name: 'b', description: 'about b', inputSchema: { type: 'object', properties: {} } },
    { name: 'a', description: 'about a', inputSchema: { type: 'object', properties: {} } },
  ]);
});

test.each([
  [{ readOnlyHint: true }, 'read_only'],
  [{ readOnlyHint: true, idempotentHint: true }, 'read_only'],
  [{ idempotentHint: true }, 'idempotent'],
  [{ readOnlyHint: false }, 'at_most_once'],
  [{}, 'at_most_once'],
] as const)('a tool that says %j is %s', (annotations, expected) => {
  expect(effectClass({ annotations })).toBe(expected);
});
