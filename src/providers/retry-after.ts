/** Response headers, as `Headers` has them. */
export interface HeaderBag {
  get(name: string): string | null;
}

/** Waits longer than this are not slept through: the error is then not retryable, with the wait attached. */
export const MAX_WAIT_MS: number = 15 * 60_000;

export interface WaitFacts {
  readonly headers?: HeaderBag | undefined;
  /** The vendor's text: "Please try again in 4.77s." */
  readonly message?: string;
  /** `retryDelay` of a `google.rpc.RetryInfo`, such as `26s`. */
  readonly retryDelay?: string | undefined;
  readonly nowMs: number;
  /** Whether `x-ratelimit-reset*` may count: they stand on every answer, and mean something only where a limit was hit. */
  readonly limited: boolean;
}

/**
 * How long the vendor asked us to wait, in milliseconds, rounded up; 0 for an instant that is past.
 *
 * The most exact wish wins: `retry-after-ms`, `retry-after` (RFC 9110 §10.2.3: seconds or a date), RetryInfo, the text,
 * then the reset headers of the limits that are used up. Anything malformed is no wish at all.
 */
export function retryAfterMs(facts: WaitFacts): number | undefined {
  const { headers, nowMs } = facts;
  const clock = instant(headers?.get('date') ?? '') ?? nowMs;
  return (
    milliseconds(headers?.get('retry-after-ms')) ??
    milliseconds(headers?.get('x-ms-retry-after-ms')) ??
    duration(headers?.get('retry-after') ?? '', 's') ??
    until(headers?.get('retry-after') ?? '', clock) ??
    duration(facts.retryDelay ?? '', 's') ??
    fromText(facts.message ?? '') ??
    (facts.limited && headers ? fromResets(headers, clock) : undefined)
  );
}

function milliseconds(value: string | null | undefined): number | undefined {
  return value === undefined || value === null ? undefined : duration(value, 'ms');
}

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** `4.77s`, `1m30s`, `750ms`; a bare number counts in `bare`. */
function duration(text: string, bare: 'ms' | 's'): number | undefined {
  const trimmed = text.trim();
  if (/^\d+(?:\.\d+)?$/.test(trimmed)) return Math.ceil(round(Number(trimmed) * (UNIT_MS[bare] ?? 1)));
  if (!/^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+$/.test(trimmed)) return undefined;
  let total = 0;
  for (const [, amount, unit] of trimmed.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g)) {
    total += Number(amount) * (UNIT_MS[unit ?? ''] ?? 0);
  }
  return Math.ceil(round(total));
}

/** 4.77 * 1000 is 4769.999…: to a thousandth of a millisecond first. */
function round(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}

/** Milliseconds since 1970 of an HTTP or ISO 8601 date, or of a Unix time in seconds or milliseconds. */
function instant(text: string): number | undefined {
  if (/^\d{10}(?:\.\d+)?$/.test(text)) return Number(text) * 1000;
  if (/^\d{13}$/.test(text)) return Number(text);
  // Date.parse takes nearly anything ("soon 1"): only what begins like a date may count.
  if (!/^(?:[A-Z][a-z]{2,8},? |\d{4}-\d{2}-\d{2})/.test(text)) return undefined;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : at;
}

function until(text: string, nowMs: number): number | undefined {
  const at = instant(text.trim());
  return at === undefined ? undefined : Math.max(0, Math.ceil(at - nowMs));
}

const CJK_UNITS: Readonly<Record<string, string>> = {
  秒: 's',
  分: 'm',
  小时: 'h',
  時間: 'h',
  초: 's',
  분: 'm',
  시간: 'h',
};

const IN_TEXT: readonly RegExp[] = [
  /(?:try again|retry)(?: your request)? (?:in|after) (?:about )?(?<n>\d+(?:\.\d+)?) ?(?<unit>milliseconds?|seconds?|minutes?|hours?)\b/i,
  /(?:try again|retry)(?: your request)? (?:in|after) (?<span>(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+)/i,
  /wait (?:for )?(?:about |at least )?(?<n>\d+(?:\.\d+)?) ?(?<unit>milliseconds?|seconds?|minutes?|hours?)\b/i,
  /(?<n>\d+(?:\.\d+)?) ?(?<unit>秒|分|小时|時間|초|분|시간)(?:钟|鐘|間)? ?(?:之?[后後]|후)/,
];

function fromText(message: string): number | undefined {
  for (const pattern of IN_TEXT) {
    const groups = pattern.exec(message)?.groups;
    if (groups === undefined) continue;
    if (groups.span !== undefined) return duration(groups.span, 's');
    const unit = groups.unit ?? '';
    const short = unit.startsWith('milli') ? 'ms' : (CJK_UNITS[unit] ?? unit.charAt(0).toLowerCase());
    return duration(`${groups.n}${short}`, 's');
  }
  return undefined;
}

/** Header families that tell when a limit fills up again, with the one that tells what is left of it. */
const RESETS: readonly (readonly [reset: string, remaining: string])[] = [
  ['x-ratelimit-reset-requests', 'x-ratelimit-remaining-requests'],
  ['x-ratelimit-reset-tokens', 'x-ratelimit-remaining-tokens'],
  ['anthropic-ratelimit-requests-reset', 'anthropic-ratelimit-requests-remaining'],
  ['anthropic-ratelimit-tokens-reset', 'anthropic-ratelimit-tokens-remaining'],
  ['anthropic-ratelimit-input-tokens-reset', 'anthropic-ratelimit-input-tokens-remaining'],
  ['anthropic-ratelimit-output-tokens-reset', 'anthropic-ratelimit-output-tokens-remaining'],
  ['x-ratelimit-reset-requests-minute', 'x-ratelimit-remaining-requests-minute'],
  ['x-ratelimit-reset-tokens-minute', 'x-ratelimit-remaining-tokens-minute'],
  ['x-ratelimit-reset-requests-hour', 'x-ratelimit-remaining-requests-hour'],
  ['x-ratelimit-reset-tokens-hour', 'x-ratelimit-remaining-tokens-hour'],
  ['x-ratelimit-reset-requests-day', 'x-ratelimit-remaining-requests-day'],
  ['x-ratelimit-reset-tokens-day', 'x-ratelimit-remaining-tokens-day'],
  ['ratelimitbysize-reset', 'ratelimitbysize-remaining'],
  ['x-ratelimit-reset', 'x-ratelimit-remaining'],
  ['ratelimit-reset', 'ratelimit-remaining'],
];

/** The longest wait among the limits that are used up; among all, where none says what is left. */
function fromResets(headers: HeaderBag, nowMs: number): number | undefined {
  const known = RESETS.flatMap(([reset, remaining]) => {
    const value = headers.get(reset) ?? '';
    const wait = until(value, nowMs) ?? duration(value, 's');
    const left = headers.get(remaining);
    return wait === undefined ? [] : [{ wait, left: left === null ? undefined : Number(left) }];
  });
  known.push(...combined(headers.get('ratelimit') ?? ''));
  const usedUp = known.filter(({ left }) => left === 0);
  const candidates = usedUp.length > 0 ? usedUp : known.filter(({ left }) => left === undefined);
  return candidates.length === 0 ? undefined : Math.max(...candidates.map(({ wait }) => wait));
}

/** All in one header, by drafts of the IETF: `limit=100, remaining=0, reset=50`, later `"default";r=0;t=50`. */
function combined(value: string): { readonly wait: number; readonly left: number | undefined }[] {
  return value.split(/,\s*(?=")/).flatMap((policy) => {
    const reset = /\b(?:reset|t)=(\d+)/.exec(policy)?.[1];
    const left = /\b(?:remaining|r)=(\d+)/.exec(policy)?.[1];
    if (reset === undefined) return [];
    return [{ wait: Number(reset) * 1000, left: left === undefined ? undefined : Number(left) }];
  });
}
