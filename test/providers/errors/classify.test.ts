import { expect, test } from 'vitest';
import { classify } from '../../../src/providers/classify.ts';
import { PROVIDER_ERRORS, type ProviderErrorCode } from '../../../src/providers/errors.ts';

interface Row {
  readonly code: ProviderErrorCode;
  readonly status?: number;
  readonly headers?: Record<string, string>;
  readonly body: unknown;
  readonly retryable?: boolean;
  readonly why: string;
}

const error = (message: string, extra: Record<string, unknown> = {}): unknown => ({ error: { message, ...extra } });

/** Codes that no answer of a server can be: they are about the connection or the bytes. */
const NOT_AN_ANSWER: readonly ProviderErrorCode[] = ['network', 'incomplete_stream'];

const ROWS: readonly Row[] = [
  {
    code: 'context_overflow',
    status: 400,
    body: error('x', { code: 'context_length_exceeded' }),
    why: 'the code says it',
  },
  { code: 'request_too_large', status: 413, body: '', why: 'the status alone says it' },
  {
    code: 'rate_limit',
    status: 429,
    body: error('Rate limit reached', { code: 'rate_limit_exceeded' }),
    why: 'the limit refills',
  },
  {
    code: 'rate_limit',
    status: 413,
    body: error('Request too large: tokens per minute', { type: 'tokens', code: 'rate_limit_exceeded' }),
    why: 'the code overrules the status',
  },
  {
    code: 'rate_limit',
    status: 429,
    body: error('Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 45000.', {
      code: 'rate_limit_exceeded',
    }),
    retryable: false,
    why: 'one request is larger than a minute allows',
  },
  {
    code: 'quota',
    status: 429,
    headers: { 'retry-after': '1' },
    body: error('You exceeded your current quota', { code: 'insufficient_quota' }),
    why: 'an empty account does not refill',
  },
  {
    code: 'quota',
    status: 402,
    body: error('Insufficient Balance', { code: 'invalid_request_error' }),
    why: 'a bill is not paid by waiting',
  },
  {
    code: 'quota',
    status: 400,
    body: error('Your credit balance is too low to access the Anthropic API.', { type: 'invalid_request_error' }),
    why: 'the sentence says it',
  },
  {
    code: 'quota',
    status: 403,
    body: error('用户额度不足', { type: 'insufficient_user_quota' }),
    why: 'the word overrules the status',
  },
  {
    code: 'quota',
    status: 429,
    body: error('Limit reached for requests per day (RPD)'),
    why: 'a day is too long, and no wait is named',
  },
  {
    code: 'rate_limit',
    status: 429,
    body: error('Rate limit reached on requests per day (RPD): Limit 200. Please try again in 7m12s.'),
    why: 'the named wait is short',
  },
  {
    code: 'quota',
    status: 429,
    body: { code: 'Some resource has been exhausted', error: 'Your team has used all available credits.' },
    why: 'the sentence says it',
  },
  {
    code: 'overloaded',
    status: 529,
    body: { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } },
    why: 'others ask too much',
  },
  { code: 'overloaded', status: 503, body: error('Model is loading'), why: 'it will have loaded' },
  {
    code: 'overloaded',
    status: 429,
    body: error('The engine is currently overloaded', { type: 'engine_overloaded_error' }),
    why: 'it is not our limit',
  },
  {
    code: 'server_error',
    status: 502,
    headers: { 'content-type': 'text/html' },
    body: '<html><head><title>502 Bad Gateway</title></head><body/></html>',
    why: 'a gateway lost its server',
  },
  { code: 'server_error', status: 500, body: { error: 'boom' }, why: 'the server broke' },
  { code: 'timeout', status: 504, body: 'upstream request timeout', why: 'it may be quicker next time' },
  { code: 'timeout', status: 408, body: '', why: 'it may be quicker next time' },
  {
    code: 'protocol',
    status: 200,
    headers: { 'content-type': 'text/html' },
    body: '<!DOCTYPE html><html><body>Login</body></html>',
    retryable: false,
    why: 'a wrong base URL stays wrong',
  },
  {
    code: 'invalid_request',
    status: 400,
    body: error('Unknown parameter: foo', { type: 'invalid_request_error' }),
    why: 'the same request stays wrong',
  },
  {
    code: 'invalid_request',
    status: 422,
    body: { detail: [{ loc: ['body', 'messages'], msg: 'field required', type: 'value_error.missing' }] },
    why: 'the same request stays wrong',
  },
  {
    code: 'not_found',
    status: 404,
    body: error('The model `x` does not exist', { code: 'model_not_found' }),
    why: 'no such model',
  },
  { code: 'not_found', status: 404, body: '404 page not found', why: 'no such path' },
  {
    code: 'content_filter',
    status: 400,
    body: error(
      "filtered due to the prompt triggering Azure OpenAI's content management policy. Please modify your prompt and retry.",
      { code: 'content_filter' },
    ),
    why: 'the same prompt is filtered again',
  },
  {
    code: 'content_filter',
    status: 400,
    body: error('Content Exists Risk', { type: 'invalid_request_error' }),
    why: 'the sentence says it',
  },
  {
    code: 'replay_rejected',
    status: 400,
    body: error('messages.1.content.0: Invalid `signature` in `thinking` block', { type: 'invalid_request_error' }),
    why: 'without the signature it goes through',
  },
  {
    code: 'replay_rejected',
    status: 400,
    body: error('The encrypted content gAAA could not be verified.', { code: 'invalid_encrypted_content' }),
    why: 'without it the request goes through',
  },
  {
    code: 'replay_rejected',
    status: 400,
    body: error('Function call is missing a thought_signature in functionCall parts.'),
    why: 'a rebuilt request has a stand-in',
  },
  {
    code: 'auth',
    status: 401,
    body: error('Authentication Fails', { type: 'authentication_error', code: 'invalid_request_error' }),
    why: 'a key does not mend itself',
  },
  {
    code: 'auth',
    status: 400,
    body: [
      {
        error: {
          code: 400,
          message: 'API key not valid. Please pass a valid API key.',
          status: 'INVALID_ARGUMENT',
          details: [{ reason: 'API_KEY_INVALID' }],
        },
      },
    ],
    why: 'the sentence overrules the status',
  },
  {
    code: 'permission',
    status: 403,
    body: error('Forbidden', { type: 'permission_error' }),
    why: 'a right does not come by itself',
  },
];

test.each(ROWS)('$code ($status): $why', ({ code, status, headers = {}, body, retryable }) => {
  const found = classify({ status, headers: new Headers(headers), body, nowMs: 0 });
  expect(found.code).toBe(code);
  expect(found.retryable).toBe(retryable ?? PROVIDER_ERRORS[code].retryable);
  expect(found.status).toBe(status);
});

test('the table rules on every code that an answer can be', () => {
  const ruled = new Set(ROWS.map((row) => row.code));
  const expected = Object.keys(PROVIDER_ERRORS).filter((code) => !NOT_AN_ANSWER.includes(code as ProviderErrorCode));
  expect([...ruled].sort()).toEqual(expected.sort());
});

test('one text of Google is a minute limit or a day limit by its details', () => {
  const body = (details: unknown[]): unknown => [
    {
      error: {
        code: 429,
        message: 'You exceeded your current quota, please check your plan and billing details.',
        status: 'RESOURCE_EXHAUSTED',
        details,
      },
    },
  ];
  const minute = classify({
    status: 429,
    body: body([{ violations: [{ quotaId: 'InputTokensPerModelPerMinute-FreeTier' }] }, { retryDelay: '26s' }]),
    nowMs: 0,
  });
  expect(minute).toMatchObject({ code: 'rate_limit', retryable: true, retryAfterMs: 26_000 });
  const day = classify({
    status: 429,
    body: body([{ violations: [{ quotaId: 'RequestsPerDayPerProject-FreeTier' }] }, { retryDelay: '26s' }]),
    nowMs: 0,
  });
  expect(day).toMatchObject({ code: 'quota', retryable: false });
});

test('x-should-retry is obeyed, but makes no hopeless request retryable', () => {
  const told = (wish: string, status: number, body: unknown): boolean =>
    classify({ status, headers: new Headers({ 'x-should-retry': wish }), body, nowMs: 0 }).retryable;
  expect(told('false', 500, '')).toBe(false);
  expect(told('true', 409, '')).toBe(true);
  expect(told('true', 400, error('prompt is too long: 5000 tokens > 4000 maximum'))).toBe(false);
  expect(told('true', 401, '')).toBe(false);
});

test('messages are short, carry no page and no key', () => {
  const page = `<html><head><title>502 Bad Gateway</title></head><body>${'x'.repeat(10_000)}</body></html>`;
  expect(classify({ status: 502, headers: new Headers(), body: page, nowMs: 0 }).message.length).toBeLessThan(120);
  const leaky = classify({
    status: 401,
    body: error(
      'Incorrect API key provided: sk-proj-abcdefghijklmnop1234. Authorization: Bearer eyJhbGciOi.abc.def, key canary-7f3a9b',
    ),
    nowMs: 0,
    secrets: ['canary-7f3a9b'],
  });
  expect(leaky.message).not.toMatch(/sk-proj|eyJ|canary/);
  expect(classify({ status: 400, body: error('y'.repeat(9_000)), nowMs: 0 }).message.length).toBeLessThanOrEqual(500);
});

test.each([
  undefined,
  null,
  '',
  0,
  [],
  {},
  [[[]]],
  { error: null },
  { error: [] },
  '{"a":',
  { error: { error: { error: {} } } },
])('a body of %j is classified by the status and never throws', (body) => {
  expect(classify({ status: 400, body, nowMs: 0 }).code).toBe('invalid_request');
  expect(classify({ status: 503, body, nowMs: 0 }).code).toBe('overloaded');
});

test('an error inside a stream is judged by its own words, and may be tried again where it has none', () => {
  const inStream = (body: unknown): ProviderErrorCode => classify({ body, nowMs: 0 }).code;
  expect(inStream(error('quota exceeded', { code: 'insufficient_quota' }))).toBe('quota');
  expect(inStream(error('Provider returned error', { code: 502 }))).toBe('server_error');
  expect(inStream(error('something odd'))).toBe('server_error');
  expect(inStream(error('bad', { type: 'invalid_request_error' }))).toBe('invalid_request');
});
