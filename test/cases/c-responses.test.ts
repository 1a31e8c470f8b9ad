import { describe, expect, test } from 'vitest';
import { findCase } from './find-case.ts';
import { objs, str } from './runner/case-file.ts';
import { buildFor } from './runner/transcript-in.ts';
import { messagesOf, partsOf } from './runner/wire-reader.ts';

const build = (id: string) => buildFor('openai-responses', findCase(id).input);
const labels = (request: Parameters<typeof messagesOf>[0]) => messagesOf(request).map((message) => message.label);

test('c-03: with nothing stored, reasoning without encrypted content is left out and the text is sent in full', async () => {
  const { request, broken } = await build('c-03-store-false-id-reference');
  expect(broken).toEqual([]);
  expect(request.body.store).toBe(false);
  expect(request.body.include).toContain('reasoning.encrypted_content');
  expect(labels(request)).toEqual(['user', 'assistant', 'user']);
  expect(partsOf(request, 'text').map((part) => part.text)).toEqual(['a', 'b', 'c']);
});

test('c-05: an output whose call is gone is not sent', async () => {
  const { request, broken } = await build('c-05-orphan-function-call-output');
  expect(broken).toEqual([]);
  expect(labels(request)).toEqual(['user', 'assistant', 'user']);
});

test('c-07: ids that the API did not issue for that kind are left out, the call id stays', async () => {
  const { request, broken } = await build('c-07-item-id-prefix');
  expect(broken).toEqual([]);
  expect(objs(request.body.input).filter((item) => item.id !== undefined)).toEqual([]);
  expect(partsOf(request, 'call').map((part) => part.id)).toEqual(['call_7']);
  expect(partsOf(request, 'result').map((part) => part.id)).toEqual(['call_7']);
});

describe('c-15: a search that the provider ran', () => {
  const { input } = findCase('c-15-web-search-call-in-history');

  test('goes back to the same API as the item it was', async () => {
    const { request, broken } = await buildFor('openai-responses', input);
    expect(broken).toEqual([]);
    expect(objs(request.body.input).find((item) => item.type === 'web_search_call')).toMatchObject({
      id: 'ws_1',
      action: { query: 'tide times' },
    });
    expect(labels(request)).not.toContain('function_call');
  });

  test.each(['openai-chat', 'anthropic', 'openai-responses-compatible (deepseek)'])(
    'is no call that wants a result on %s',
    async (target) => {
      const { request, broken } = await buildFor(target, input);
      expect(broken).toEqual([]);
      expect(partsOf(request, 'call')).toEqual([]);
      expect(partsOf(request, 'text').map((part) => part.text)).toEqual(
        expect.arrayContaining(['High tide at noon.', 'And tomorrow?']),
      );
    },
  );
});

test('c-16: on an endpoint that reads its own reasoning no call of the turn lacks it, as reasoning text', async () => {
  const { input } = findCase('c-16-two-calls-one-reasoning');
  const { request, broken } = await buildFor('openai-responses-compatible (deepseek)', input);
  expect(broken).toEqual([]);
  const items = objs(request.body.input);
  const reasoning = items.filter((item) => item.type === 'reasoning');
  for (const item of reasoning) expect(item.content).toEqual([{ type: 'reasoning_text', text: 'two searches' }]);
  items.forEach((item, i) => {
    if (item.type !== 'function_call') return;
    const before = items.slice(0, i).findLast((each) => each.type !== 'function_call');
    expect(before?.type).toBe('reasoning');
  });
  expect(partsOf(request, 'call').map((part) => part.id)).toEqual(['call_1', 'call_2']);
});

test('c-17: a free-form call without output gets a synthetic one of its own kind', async () => {
  const { request, broken } = await build('c-17-custom-tool-call-pairing');
  expect(broken).toEqual([]);
  expect(labels(request)).toEqual(['user', 'custom_tool_call', 'custom_tool_call_output', 'user']);
  expect(str(objs(request.body.input)[1]?.input)).toBe('*** Begin Patch');
});
