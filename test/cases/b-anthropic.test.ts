import { expect, test } from 'vitest';
import { findCase } from './find-case.ts';
import { objs } from './runner/case-file.ts';
import { buildFor } from './runner/transcript-in.ts';
import { messagesOf, partsOf } from './runner/wire-reader.ts';

const build = (id: string) => buildFor('anthropic', findCase(id).input);

test('b-05: a history that ends with the assistant gets a user turn instead of trailing white space', async () => {
  const { request, broken } = await build('b-05-trailing-whitespace-final-assistant');
  expect(broken).toEqual([]);
  expect(messagesOf(request).map((message) => message.label)).toEqual(['user', 'assistant', 'user']);
});

test('b-08: a thinking block whose text was cleared goes whole, and thinking is off for the open tool turn', async () => {
  const { request, broken } = await build('b-08-emptied-thinking-with-signature');
  expect(broken).toEqual([]);
  expect(partsOf(request, 'reasoning')).toEqual([]);
  expect(JSON.stringify(request.body)).not.toContain('EqQBCgIYAhIk');
  expect(request.body.thinking).toBeUndefined();
});

test('b-09: reasoning of another provider is no thinking block, and the request stays valid', async () => {
  const { request, broken } = await build('b-09-foreign-reasoning-to-anthropic');
  expect(broken).toEqual([]);
  expect(partsOf(request, 'reasoning')).toEqual([]);
  expect(partsOf(request, 'call').map((part) => part.name)).toEqual(['list_dir']);
});

test('b-19: a history that begins with the assistant gets a stand-in user message; the system text stays in its field', async () => {
  const { request, broken } = await build('b-19-first-message-assistant');
  expect(broken).toEqual([]);
  expect(objs(request.body.messages)[0]?.role).toBe('user');
  expect(JSON.stringify(request.body.system)).toContain('You are a pirate.');
  expect(partsOf(request, 'text').map((part) => part.text)).toEqual(
    expect.arrayContaining(['Arr, as I said, the map is here.', 'Where?']),
  );
});

test('b-23: a system prompt alone is sent with a user turn, never with empty messages', async () => {
  const { request, broken } = await build('b-23-system-only');
  expect(broken).toEqual([]);
  expect(objs(request.body.messages)).toHaveLength(1);
  expect(JSON.stringify(request.body.system)).toContain('Judge the answer 42.');
});

test('b-25: every input sent is an object, whatever was stored', async () => {
  const { request, broken } = await build('b-25-non-object-tool-input');
  expect(broken).toEqual([]);
  const inputs = partsOf(request, 'call').map((part) => part.raw.input);
  expect(inputs).toHaveLength(3);
  for (const input of inputs) expect(input).toBeTypeOf('object');
  expect(inputs.some((input) => input === null || Array.isArray(input))).toBe(false);
  expect(partsOf(request, 'result').map((part) => part.text)).toEqual([
    'invalid arguments',
    'invalid arguments',
    '10:00',
  ]);
});
