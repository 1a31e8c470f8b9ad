import { expect, test } from 'vitest';
import type { Block } from '../../src/transcript/message.ts';
import { textTokens } from '../../src/transcript/text-tokens.ts';
import { blockTokens, itemTokens } from '../../src/transcript/tokens.ts';

const media = { sha256: 'ab'.repeat(32), mediaType: 'image/png', byteLength: 3_000_000 };
const TEXT = 'The quick brown fox jumps over the lazy dog. '.repeat(20);
const near = (tokens: number) => [tokens * 0.9, tokens * 1.1 + 12] as const;

const CASES: readonly (readonly [string, Block, number])[] = [
  ['an image of unknown size is flat, however many bytes it has', { type: 'image', media }, 85],
  ['an image goes by its area', { type: 'image', media: { ...media, width: 750, height: 750 } }, 750],
  ['a huge image is scaled down first', { type: 'image', media: { ...media, width: 15_680, height: 15_680 } }, 3000],
  ['audio is flat', { type: 'audio', media }, 100],
  ['a file costs 50', { type: 'file', media }, 50],
];

test.each(CASES)('%s', (_, block, tokens) => {
  expect(blockTokens(block)).toBe(tokens);
});

const AS_TEXT: readonly (readonly [string, Block])[] = [
  ['thinking', { type: 'thinking', text: TEXT }],
  ['a refusal', { type: 'refusal', text: TEXT }],
  ['the input of a call', { type: 'tool_use', callId: 'c', nativeId: 'c', name: 'run', input: { text: TEXT } }],
  [
    'a result, down to its leaves',
    { type: 'tool_result', callId: 'c', name: 'run', status: 'ok', content: [{ type: 'text', text: TEXT }] },
  ],
  ['an extension', { type: 'extension', name: 'x', data: { text: TEXT } }],
  ['a builtin tool', { type: 'builtin_tool', phase: 'call', nativeId: 'n', name: 'web', payload: [TEXT] }],
];

test.each(AS_TEXT)('%s costs what its text costs', (_, block) => {
  const [low, high] = near(textTokens(TEXT));
  expect(blockTokens(block)).toBeGreaterThan(low);
  expect(blockTokens(block)).toBeLessThan(high);
});

test('the conservative estimate is four thirds of the characters, rounded up', () => {
  expect(['', 'a', 'ab', 'abc', '永遠'].map((text) => textTokens(text, 'conservative'))).toEqual([0, 2, 3, 4, 3]);
  expect(blockTokens({ type: 'text', text: 'a'.repeat(300) }, 'conservative')).toBe(400);
});

test('encrypted reasoning is not free although its text is empty', () => {
  const response = { id: 'r', provider: 'p', model: 'm', api: 'openai-responses' } as const;
  const replay = { scope: { endpoint: 'e', account: 'a', model: 'm' }, data: { encrypted: 'gAAAAB'.repeat(500) } };
  expect(itemTokens({ kind: 'reasoning_summary', schemaVersion: 1, response, text: '', replay })).toBeGreaterThan(100);
});
