import { expect, test } from 'vitest';
import { findCase } from './find-case.ts';
import { runErrorIn } from './runner/error-in.ts';

const one = findCase('f-18-ollama-500-no-user-query');

test('f-18: a server error about a lost user turn is retried, and told with its own message', async () => {
  const { error, requests } = await runErrorIn(one);
  expect(error).toMatchObject({ class: 'server_error', retryable: true });
  expect(error?.message).toContain('no user query found in messages');
  // The runner gives up after four attempts, as a bounded retry policy does.
  expect(requests).toHaveLength(4);
});

test('f-18: it is an overflow when the request is estimated above the window', async () => {
  const input = { ...one.input, context: { window: 4096, estimated_prompt_tokens: 9000 } };
  const { error, requests } = await runErrorIn({ ...one, input });
  expect(error).toMatchObject({ class: 'context_overflow', retryable: false, limit: 4096 });
  expect(requests).toHaveLength(1);
});
