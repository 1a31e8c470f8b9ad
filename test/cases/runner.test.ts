import { describe, expect, test } from 'vitest';
import { findCase } from './find-case.ts';
import { type Case, type Obj, readCases } from './runner/case-file.ts';
import { problems } from './runner/check.ts';
import { expand, fillPlaceholders } from './runner/notation.ts';
import { runCase } from './runner/run-case.ts';
import { shapeProblem } from './runner/shape.ts';
import { parseMaker, parseTarget } from './runner/target.ts';

const withCheck = (id: string, check: Obj): Case => ({ ...findCase(id), check });

/** A case whose check was made wrong, and what the runner must say of it. Without these the runner could pass anything. */
const WRONG = [
  {
    id: 'a-01-interrupt-partial-batch-chat',
    check: {
      shape: ['user', 'assistant[call_a,call_c,call_b]', 'tool(call_a)', 'tool(call_b)', 'tool(call_c)', 'user'],
    },
    says: 'shape',
  },
  { id: 'a-17-mistral-nine-chars', check: { id_pattern: '^x' }, says: 'id_pattern' },
  { id: 'b-12-no-arg-tool-empty-delta', check: { calls: [{ name: 'get_time', args: { a: 1 } }] }, says: 'calls' },
  { id: 'b-12-no-arg-tool-empty-delta', check: { calls: [] }, says: 'calls' },
  { id: 'b-14-overloaded-mid-stream', check: { error: { class: 'rate_limit', retryable: true } }, says: 'error' },
  { id: 'b-14-overloaded-mid-stream', check: { finish: 'stop' }, says: 'the call failed' },
  {
    id: 'b-06-thinking-signature-replay',
    check: { reasoning: { text: 'I need the weather.', signature: 'other' } },
    says: 'not in the next request',
  },
  { id: 'e-20-done-missing-but-finished', check: { finish: 'stop', text: '5' }, says: 'text' },
  { id: 'e-20-done-missing-but-finished', check: { one_of: [{ text: '5' }, { finish: 'length' }] }, says: 'one_of' },
  { id: 'e-21-usage-chunk-empty-choices', check: { usage: { input: 308, output: 69 } }, says: 'usage' },
  { id: 'f-01-openai-chat-overflow', check: { limit: 4096 }, says: 'limit' },
  { id: 'f-28-insufficient-quota', check: { requests: 2 }, says: 'requests' },
  {
    id: 'f-33-retry-after-ms-and-reset-headers',
    check: { variants: [{ retryAfterMs: 750 }, { retryAfterMs: 1 }, { retryAfterMs: 30000 }] },
    says: '[1] retryAfterMs',
  },
  { id: 'h-08-parallel-one-fails', check: { results: 2 }, says: 'results' },
  { id: 'h-16-tool-name-illegal', check: { name_pattern: '^x$' }, says: 'name_pattern' },
  { id: 'h-21-arguments-fail-validation', check: { executed_count: 3 }, says: 'executed_count' },
  { id: 'g-09-cjk-estimate', check: { max_estimate: 10 }, says: 'max_estimate' },
  { id: 'e-20-done-missing-but-finished', check: { text: '4', colour: 'red' }, says: 'unknown check key colour' },
  { id: 'e-20-done-missing-but-finished', check: { shape: ['user', 'assistant', 'user'] }, says: 'shape' },
] as const;

test.each(WRONG)('$id with a wrong check ($says) fails', async ({ id, check, says }) => {
  const outcome = await runCase(withCheck(id, check));
  expect(outcome.status).toBe('failed');
  expect(outcome.status === 'failed' ? outcome.problems.join('\n') : '').toContain(says);
});

test('an unknown kind fails, a case without a check is skipped', async () => {
  const one = findCase('e-20-done-missing-but-finished');
  expect(await runCase({ ...one, kind: 'dance' })).toMatchObject({ status: 'failed' });
  const { check: _, ...unchecked } = one;
  expect(await runCase(unchecked)).toMatchObject({ status: 'skipped' });
});

test('what nobody observed is a problem, never a pass', () => {
  const keys = [
    'finish',
    'text',
    'calls',
    'usage',
    'error',
    'executed',
    'results',
    'requests',
    'final_text',
    'shape',
    'compactions',
    'history_unchanged',
    'min_estimate',
    'schema',
    'name_pattern',
    'signal',
    'flagged',
    'variants',
    'variant_error',
    'replay_block',
    'body_below',
    'unhandled_rejections',
    'run_continues',
  ];
  for (const key of keys) expect(problems({ [key]: key === 'shape' ? [] : 1 }, {}), key).toHaveLength(1);
});

describe('the notation', () => {
  test('repeats texts at any depth', () => {
    expect(expand({ a: [{ $repeat: 'ab', times: 2 }] })).toEqual({ a: ['abab'] });
  });

  test.each([
    ['{{HTTP-date 20 seconds after the response}}', 'Thu, 01 Jan 1970 00:00:21 GMT'],
    ['{{HTTP-date now}}', 'Thu, 01 Jan 1970 00:00:01 GMT'],
    ['{{HTTP-date one day in the past}}', 'Wed, 31 Dec 1969 00:00:01 GMT'],
    ['{{ISO time 2 minutes after}}', '1970-01-01T00:02:01.000Z'],
    ['plain', 'plain'],
  ])('%s is %s', (text, date) => {
    expect(fillPlaceholders(text, 1000)).toBe(date);
  });

  test('a line that is no case is named', () => {
    expect(() => readCases('\n{"id":1}', 'x.jsonl')).toThrow('x.jsonl:2');
  });

  test.each([
    ['anthropic', { api: 'anthropic', vendor: 'anthropic', compatible: false }],
    ['anthropic-compatible (deepseek)', { api: 'anthropic', vendor: 'deepseek', compatible: true }],
    ['openai-responses (limit 64) with an 83-character id', { api: 'openai-responses', vendor: 'openai' }],
    ['openai-responses-compatible (deepseek)', { api: 'openai-responses', vendor: 'deepseek', compatible: true }],
    ['openai-compatible (bedrock behind a proxy)', { api: 'openai-chat', dialect: 'bedrock' }],
    ['openai-compatible-strict', { api: 'openai-chat', dialect: 'strict' }],
    ['mistral', { api: 'openai-chat', dialect: 'mistral' }],
  ])('the target %s is read', (words, target) => {
    expect(parseTarget(words)).toMatchObject(target);
  });

  test('reasoning made by the target itself is its own, that of another maker is not', () => {
    const deepseek = parseTarget('deepseek');
    expect(parseMaker('deepseek', deepseek)).toBe(deepseek);
    expect(parseMaker('anthropic', deepseek)).toMatchObject({ api: 'anthropic' });
    const imitation = parseTarget('anthropic-compatible (deepseek)');
    expect(parseMaker('deepseek-anthropic', imitation)).toBe(imitation);
  });

  test('several user texts in one string are told apart in a shape', () => {
    const body = { messages: [{ role: 'user', content: 'one\n\ntwo' }] };
    expect(shapeProblem(['user[text, text]'], { api: 'openai-chat', body }, ['one', 'two'])).toBeUndefined();
    expect(shapeProblem(['user[text, text]'], { api: 'openai-chat', body }, ['one'])).toBeDefined();
  });
});
