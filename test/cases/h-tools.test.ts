import { describe, expect, test } from 'vitest';
import { createToolRegistry } from '../../src/tools/registry.ts';
import { findCase } from './find-case.ts';
import { objs, str } from './runner/case-file.ts';
import { openLab } from './runner/lab.ts';
import { bodyOf, requestOf, USER } from './runner/next-request.ts';
import { runSchema, toolsOf } from './runner/schema.ts';
import { parseTarget } from './runner/target.ts';
import { toolRun } from './runner/tool.ts';
import { buildFor } from './runner/transcript-in.ts';
import { partsOf, toolNamesOf } from './runner/wire-reader.ts';

describe('h-11: a schema that strict mode cannot express', () => {
  test('is sent without strict, and loses nothing', async () => {
    const seen = await runSchema(findCase('h-11-strict-unsupported-keywords'));
    expect(seen.broken).toEqual([]);
    const [tool] = objs(seen.requests?.[0]?.body.tools);
    expect(tool).toMatchObject({
      function: { parameters: { properties: { headers: expect.anything(), extra: expect.anything() } } },
    });
    expect(JSON.stringify(tool)).not.toContain('"strict":true');
  });
});

describe('h-14: zod types that JSON Schema cannot say', () => {
  const { input } = findCase('h-14-unrepresentable-zod-types');

  test('load all the same, and are sent as their nearest stand-ins', async () => {
    const seen = await runSchema(findCase('h-14-unrepresentable-zod-types'));
    expect(seen.broken).toEqual([]);
    expect(seen.schemas?.[0]).toMatchObject({ properties: { when: { type: 'string' }, t: { type: 'string' } } });
  });

  test('get the real thing out of what the model writes', () => {
    const [tool] = toolsOf({ zod: 'z.object({ when: z.date() })' });
    expect(tool?.parse({ when: '2026-05-01T00:00:00Z' })).toEqual({
      ok: true,
      value: { when: new Date('2026-05-01T00:00:00Z') },
    });
    expect(tool?.parse({ when: 'soon' }).ok).toBe(false);
    expect(str(input.zod)).toContain('z.date()');
  });
});

test('h-18: too many tools is a clear error before the network that names count and limit', async () => {
  const one = findCase('h-18-too-many-tools');
  await expect(runSchema(one)).rejects.toThrow(/142.*128/);
  const fits = await runSchema({ ...one, input: { ...one.input, tool_count: 128 } });
  expect(fits.names).toHaveLength(128);
});

test.each([
  { names: ['execute_sql', 'execute_sql'], message: /execute_sql/ },
  { names: ['a.b', 'a_b'], message: /a\.b.*a_b/ },
])('h-19: registering $names is refused, naming them', ({ names, message }) => {
  expect(findCase('h-19-duplicate-tool-names').input.names).toEqual(expect.arrayContaining(names));
  expect(() => createToolRegistry(toolsOf({ names }))).toThrow(message);
});

describe('h-20: history with calls and no tools offered', () => {
  const { input } = findCase('h-20-tool-history-without-tools');

  test('declares the earlier tools and forbids calls, or tells the calls as text, where the server wants that', async () => {
    const { request, broken } = await buildFor(str(input.target), input);
    expect(broken).toEqual([]);
    expect(request.body.tools).not.toEqual([]);
    const asText = partsOf(request, 'call').length === 0;
    if (!asText) {
      expect(toolNamesOf(request)).toEqual(['read_file']);
      expect(request.body.tool_choice).toBe('none');
    }
    expect(JSON.stringify(request.body)).toContain('A');
  });

  test('never sends an empty list of tools', async () => {
    for (const target of ['openai-chat', 'openai-responses', 'deepseek']) {
      const { request } = await buildFor(target, input);
      expect(request.body.tools).toBeUndefined();
    }
  });
});

test('h-24: a result that says isError is an error on every wire', async () => {
  const { run, seen } = await toolRun(findCase('h-24-iserror-flag-kept').input);
  expect(seen.broken).toEqual([]);
  expect(seen.results).toMatchObject([{ status: 'error', text: 'permission denied' }]);
  const lab = await openLab();
  try {
    const request = requestOf(run.items, { model: 'm' });
    const onAnthropic = bodyOf(lab, parseTarget('anthropic'), request);
    expect(partsOf(onAnthropic, 'result')[0]?.raw.is_error).toBe(true);
    const onChat = bodyOf(lab, parseTarget('openai-chat'), request);
    expect(partsOf(onChat, 'result')[0]?.text).toMatch(/error/i);
    const plain = bodyOf(lab, parseTarget('openai-chat'), requestOf([USER], { model: 'm' }));
    expect(plain.body.tools).toBeUndefined();
  } finally {
    await lab.close();
  }
});
