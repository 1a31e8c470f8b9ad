import { expect, test } from 'vitest';
import { classify } from '../../../src/providers/classify.ts';
import { retryAfterMs } from '../../../src/providers/retry-after.ts';

const NOW = Date.UTC(2026, 4, 1, 12, 0, 0);
const http = (shiftMs: number): string => new Date(NOW + shiftMs).toUTCString();
const iso = (shiftMs: number): string => new Date(NOW + shiftMs).toISOString();

const ROWS: readonly (readonly [headers: Record<string, string>, message: string, expected: number | undefined])[] = [
  [{ 'retry-after-ms': '750', 'retry-after': '1' }, '', 750],
  [{ 'retry-after': '20' }, '', 20_000],
  [{ 'retry-after': '0.5' }, '', 500],
  [{ 'retry-after': http(20_000) }, '', 20_000],
  [{ 'retry-after': http(-20_000) }, '', 0],
  // The server's own clock counts, where it tells it.
  [{ 'retry-after': http(3_600_000 + 20_000), date: http(3_600_000) }, '', 20_000],
  [{ 'retry-after': 'soon' }, '', undefined],
  [{ 'retry-after': '-5' }, '', undefined],
  [{ 'retry-after': 'NaN' }, '', undefined],
  [{ 'retry-after': '' }, '', undefined],
  [{ 'retry-after-ms': 'x', 'retry-after': '2' }, '', 2_000],
  [{ 'retry-after': '30s' }, '', 30_000],
  [{}, 'Please try again in 4.77s.', 4_770],
  [{}, 'Please try again in 1m30s.', 90_000],
  [{}, 'Please try again in 216ms.', 216],
  [{}, 'Please retry after 20 seconds', 20_000],
  [{}, 'try again in 2 minutes', 120_000],
  [{}, '请在 15 秒后重试', 15_000],
  [{}, 'Please try again later.', undefined],
  [{ 'x-ratelimit-reset-tokens': '4.77s', 'x-ratelimit-remaining-tokens': '0' }, '', 4_770],
  [{ 'x-ratelimit-reset-requests': '1m30s', 'x-ratelimit-reset-tokens': '6s' }, '', 90_000],
  // A limit that is not used up is not the one that was hit.
  [
    {
      'x-ratelimit-reset-requests': '8h',
      'x-ratelimit-remaining-requests': '99',
      'x-ratelimit-reset-tokens': '6s',
      'x-ratelimit-remaining-tokens': '0',
    },
    '',
    6_000,
  ],
  [{ 'anthropic-ratelimit-tokens-reset': iso(30_000), 'anthropic-ratelimit-tokens-remaining': '0' }, '', 30_000],
  [{ 'x-ratelimit-reset': String(NOW + 5_000) }, '', 5_000],
  [{ 'x-ratelimit-reset': String(NOW / 1000 + 5) }, '', 5_000],
  [{ 'x-ratelimit-reset-tokens': 'whenever' }, '', undefined],
  // Azure.
  [{ 'x-ms-retry-after-ms': '1200' }, '', 1_200],
  // RFC 9110 still allows the two old forms of dates.
  [{ 'retry-after': 'Thursday, 01-Jan-26 00:00:30 GMT', date: 'Thu, 01 Jan 2026 00:00:00 GMT' }, '', 30_000],
  [{ 'retry-after': 'Thu Jan  1 00:00:30 2099', date: 'Thu, 01 Jan 2099 00:00:00 GMT' }, '', 30_000],
  // Cerebras: seconds, one family a span of time.
  [
    {
      'x-ratelimit-reset-tokens-minute': '12.5',
      'x-ratelimit-remaining-tokens-minute': '0',
      'x-ratelimit-reset-requests-day': '33011.4',
      'x-ratelimit-remaining-requests-day': '14000',
    },
    '',
    12_500,
  ],
  [{ 'ratelimitbysize-reset': '32', 'ratelimitbysize-remaining': '0' }, '', 32_000],
  [{ ratelimit: 'limit=100, remaining=0, reset=50' }, '', 50_000],
  [{ ratelimit: '"minute";r=0;t=50, "day";r=900;t=9000' }, '', 50_000],
  [{ ratelimit: 'limit=100, remaining=7, reset=50' }, '', undefined],
  [{}, 'Quota exceeded. Please wait 60 seconds before retrying.', 60_000],
  [{}, '请在 1 分钟后重试', 60_000],
  [{}, '30秒後に再試行してください', 30_000],
  [{}, '20초 후에 다시 시도하세요', 20_000],
];

test.each(ROWS)('%j with %j asks for %s ms', (headers, message, expected) => {
  expect(retryAfterMs({ headers: new Headers(headers), message, nowMs: NOW, limited: true })).toBe(expected);
});

test('reset headers mean nothing where no limit was hit', () => {
  const headers = new Headers({ 'x-ratelimit-reset-tokens': '6s', 'x-ratelimit-remaining-tokens': '0' });
  expect(classify({ status: 500, headers, body: '', nowMs: NOW }).retryAfterMs).toBeUndefined();
  expect(classify({ status: 429, headers, body: '', nowMs: NOW }).retryAfterMs).toBe(6_000);
});

test('a wait of two weeks is attached and not slept through', () => {
  const headers = new Headers({ 'retry-after': '1209600' });
  expect(classify({ status: 429, headers, body: '', nowMs: NOW })).toMatchObject({
    code: 'rate_limit',
    retryable: false,
    retryAfterMs: 1_209_600_000,
  });
});
