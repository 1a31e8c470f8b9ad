import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { argumentsHash } from '../../src/tools/arguments-hash.ts';
import { callPaths } from '../../src/tools/call-paths.ts';
import { defineTool } from '../../src/tools/define-tool.ts';
import { createPolicy, type PolicyRule } from '../../src/tools/policy.ts';
import type { ToolAnnotations } from '../../src/tools/tool.ts';
import { fitsWildcard } from '../../src/tools/wildcard.ts';
import type { JsonObject } from '../../src/transcript/json.ts';

let workspace: string;
beforeAll(() => {
  workspace = mkdtempSync(join(tmpdir(), 'holdfast-policy-'));
  mkdirSync(join(workspace, 'secret'));
  mkdirSync(join(workspace, 'docs'));
  writeFileSync(join(workspace, 'secret', 'key'), '');
  symlinkSync('../secret', join(workspace, 'docs', 'link'));
  symlinkSync('/etc', join(workspace, 'docs', 'out'));
  symlinkSync('/nowhere/at/all', join(workspace, 'docs', 'dangling'));
});
afterAll(() => rmSync(workspace, { recursive: true }));

async function decided(
  rules: readonly PolicyRule[],
  args: JsonObject,
  {
    name = 'write_file',
    annotations = {},
    own = false,
  }: { name?: string; annotations?: ToolAnnotations; own?: boolean } = {},
): Promise<string> {
  const tool = defineTool({ name, description: 'd', annotations, execute: () => 1 });
  return createPolicy(rules).decide({ tool, own, arguments: args, paths: await callPaths(args, workspace) }).decision;
}

describe('without a rule that fits', () => {
  test.each([
    [{ readOnlyHint: true }, false, 'allow'],
    [{ idempotentHint: true }, false, 'ask'],
    [{}, false, 'ask'],
    [{}, true, 'allow'],
  ] as const)('a tool that says %j, our own: %s, is decided as %s', async (annotations, own, expected) => {
    expect(await decided([{ tool: 'another', decision: 'deny' }], {}, { annotations, own })).toBe(expected);
  });
});

describe('rules', () => {
  test('the last one that fits decides, for read-only tools too', async () => {
    const rules: PolicyRule[] = [{ decision: 'deny' }, { tool: 'write_*', decision: 'allow' }];
    expect(await decided(rules, {})).toBe('allow');
    expect(await decided([...rules].reverse(), {})).toBe('deny');
    expect(await decided(rules, {}, { name: 'read', annotations: { readOnlyHint: true } })).toBe('deny');
  });

  test('all that a rule names must fit', async () => {
    const rules: PolicyRule[] = [{ tool: 'run_command', arguments: { command: 'git *', cwd: '*' }, decision: 'allow' }];
    const run = (args: JsonObject) => decided(rules, args, { name: 'run_command' });
    expect(await run({ command: 'git log', cwd: '.' })).toBe('allow');
    expect(await run({ command: 'git log' })).toBe('ask');
    expect(await run({ command: 'sudo git log', cwd: '.' })).toBe('ask');
    expect(await decided(rules, { command: 'git log', cwd: '.' })).toBe('ask');
  });

  test('arguments that are no text are held against their JSON; inherited ones are not there', async () => {
    expect(await decided([{ arguments: { force: 'true' }, decision: 'deny' }], { force: true })).toBe('deny');
    expect(await decided([{ arguments: { list: '*"rm"*' }, decision: 'deny' }], { list: ['rm', 'x'] })).toBe('deny');
    expect(await decided([{ arguments: { constructor: '*' }, decision: 'deny' }], {})).toBe('ask');
  });

  test('a denial tells its reason, and which rule it was where that has none', () => {
    const tool = defineTool({ name: 't', description: 'd', execute: () => 1 });
    const call = { tool, own: false, arguments: {}, paths: [] };
    expect(createPolicy([{ decision: 'deny', reason: 'Never.' }]).decide(call).reason).toBe('Never.');
    expect(createPolicy([{ decision: 'ask' }, { decision: 'deny' }]).decide(call).reason).toContain('approvals[1]');
  });
});

describe('paths', () => {
  const deny: readonly PolicyRule[] = [{ decision: 'allow' }, { path: 'secret/', decision: 'deny' }];
  test.each([
    'secret/key',
    'docs/../secret/key',
    './secret//key',
    'docs/link/key',
    'docs/link/new/file',
    'secret/../secret',
    'secret',
  ])('%s is in what is denied', async (path) => {
    expect(await decided(deny, { path })).toBe('deny');
    expect(await decided(deny, { path: join(workspace, path) })).toBe('deny');
    expect(await decided(deny, { paths: ['docs/a', path] })).toBe('deny');
    expect(await decided(deny, { old_path: path })).toBe('deny');
  });

  test('what is allowed somewhere is allowed nowhere else, under none of its names', async () => {
    const allow: readonly PolicyRule[] = [{ path: 'docs/**', decision: 'allow' }];
    const on = (args: JsonObject) => decided(allow, args);
    expect(await on({ path: 'docs/a/b.md' })).toBe('allow');
    expect(await on({ path: 'secret/../docs/a.md' })).toBe('allow');
    for (const path of [
      'docs/../secret/key',
      'docs/link/key',
      'docs/out/passwd',
      'docs/dangling',
      'docs/dangling/x',
      '/etc/passwd',
      '../docs/a',
      'docs\0/a',
      'Docs/a',
      '.',
    ])
      expect([path, await on({ path })]).toEqual([path, 'ask']);
    expect(await on({ source: 'docs/a', destination: 'secret/a' })).toBe('ask');
    expect(await on({ text: 'docs/a' })).toBe('ask');
    expect(await on({})).toBe('ask');
  });

  test('a rule for the whole workspace covers its root', async () => {
    expect(await decided([{ path: '**', decision: 'allow' }], { cwd: '.' })).toBe('allow');
    expect(await decided([{ path: '**', decision: 'allow' }], { cwd: 'docs/link' })).toBe('allow');
    expect(await decided([{ path: '**', decision: 'allow' }], { cwd: '..' })).toBe('ask');
  });

  test('paths are looked up only where a rule could ask for them', () => {
    const tool = defineTool({ name: 'write_file', description: 'd', execute: () => 1 });
    expect(createPolicy([{ tool: 'write_file', decision: 'ask' }]).needsPaths(tool)).toBe(false);
    expect(createPolicy([{ tool: 'run_*', path: 'x', decision: 'ask' }]).needsPaths(tool)).toBe(false);
    expect(createPolicy([{ tool: '*_file', path: 'x', decision: 'ask' }]).needsPaths(tool)).toBe(true);
  });
});

describe('wildcards', () => {
  const char = fc.constantFrom('a', 'b', '*', '?', '/', '\n', '😀', '.');
  const word = fc.array(char, { maxLength: 8 }).map((chars) => chars.join(''));
  const literal = /[.*+?^${}()|[\]\\]/g;

  test('agree with the regular expression that they stand for', () => {
    fc.assert(
      fc.property(word, word, (pattern, text) => {
        const source = pattern.replace(literal, '\\$&').replaceAll('\\*', '.*').replaceAll('\\?', '.');
        expect(fitsWildcard(pattern, text)).toBe(new RegExp(`^${source}$`, 'su').test(text));
      }),
    );
  });

  test('a pattern with many stars ends, whatever the text', () => {
    expect(fitsWildcard(`${'*a'.repeat(50)}*b`, 'a'.repeat(20_000))).toBe(false);
  });
});

describe('the hash of arguments', () => {
  test('does not depend on the order of keys, and on nothing but name and arguments', () => {
    const hash = argumentsHash('t', { b: [1, { d: 1, c: 2 }], a: 'x' });
    expect(hash).toMatch(/^[0-9a-f]{64}$/);
    expect(argumentsHash('t', { a: 'x', b: [1, { c: 2, d: 1 }] })).toBe(hash);
  });

  test('differs for whatever differs', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
        // As they are stored: -0 is 0 there.
        const [one, other] = [JSON.parse(JSON.stringify(a)), JSON.parse(JSON.stringify(b))];
        expect(argumentsHash('t', { x: one }) === argumentsHash('t', { x: other })).toBe(isDeepStrictEqual(one, other));
      }),
    );
    expect(argumentsHash('t', { a: { object: [['b', 1]] } })).not.toBe(argumentsHash('t', { a: { b: 1 } }));
    expect(argumentsHash('t', {})).not.toBe(argumentsHash('u', {}));
    expect(argumentsHash('t', JSON.parse('{"__proto__":1}'))).not.toBe(argumentsHash('t', {}));
  });
});
