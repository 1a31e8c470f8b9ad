import { ApplicationFailure } from '@temporalio/activity';
import { DefaultFailureConverter, defaultPayloadConverter } from '@temporalio/common';
import { expect, test } from 'vitest';
import { withSafeFailures } from '../../src/activities/safe-failures.ts';
import { secretMask } from '../../src/transcript/mask-secrets.ts';

const KEY = 'canary/0123456789"abcdef';

/** A failure as the history would hold it. */
async function recorded(thrown: unknown): Promise<string> {
  const { fail } = withSafeFailures({ fail: (_input: undefined) => Promise.reject(thrown) }, secretMask([KEY]));
  const error = await fail(undefined).catch((rejected: unknown) => rejected);
  return JSON.stringify(new DefaultFailureConverter().errorToFailure(error, defaultPayloadConverter));
}

test('neither message, stack nor any cause of a failure carries the key into the history', async () => {
  const vendor = new Error(`401 ${JSON.stringify({ error: KEY })}`, { cause: new Error(`header ${KEY}`) });
  const failure = ApplicationFailure.create({
    type: 'provider/auth',
    message: `refused: ${encodeURIComponent(KEY)}`,
    cause: new Error('the vendor said', { cause: vendor }),
  });
  const text = await recorded(failure);
  expect(text).toContain('provider/auth');
  expect(text).toContain('the vendor said');
  expect(text).toContain('401 ');
  expect(text).not.toMatch(/0123456789|abcdef/);
});

test('a failure without a key stays as it is', async () => {
  const failure = ApplicationFailure.create({ type: 'X', message: 'plain', nonRetryable: true });
  const text = await recorded(failure);
  expect(JSON.parse(text)).toMatchObject({
    message: 'plain',
    applicationFailureInfo: { type: 'X', nonRetryable: true },
  });
});
