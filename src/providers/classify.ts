import { type ErrorBody, readErrorBody } from './error-body.ts';
import { BY_STATUS, GENERAL, SPECIFIC } from './error-words.ts';
import { type OverflowNumbers, ProviderError, type ProviderErrorCode, type ProviderErrorOptions } from './errors.ts';
import { tellsOfOverflow } from './overflow-languages.ts';
import { overflowNumbers } from './overflow-numbers.ts';
import {
  BYTES_PHRASES,
  BYTES_WORDS,
  comparesTokens,
  FIELD_TOO_LONG,
  OUTPUT_LIMIT_PHRASES,
  OVERFLOW_PHRASES,
  OVERFLOW_WORDS,
} from './overflow-phrases.ts';
import { redact } from './redact.ts';
import { type HeaderBag, MAX_WAIT_MS, retryAfterMs } from './retry-after.ts';

/** An answer that is an error, as far as it is known. */
export interface ErrorFacts {
  /** HTTP status. Absent for an error inside a stream, whose body may name one. */
  readonly status?: number | undefined;
  readonly headers?: HeaderBag | undefined;
  /** Parsed JSON of any shape, or text. */
  readonly body: unknown;
  readonly nowMs: number;
  /** Keys that must not get into a message. */
  readonly secrets?: readonly string[];
}

/** Longest message, in characters of the vendor's text. */
const MAX_MESSAGE = 500;

/** Puts any vendor's error answer into our words: by code, then status, then known sentences. Total; never throws. */
export function classify(facts: ErrorFacts): ProviderError {
  const body = readErrorBody(facts.body);
  const status = facts.status ?? body.status;
  const verdict = judge(body, status, facts);
  const retryable = mayRetry(verdict.code, facts.headers);
  return new ProviderError(
    verdict.code,
    redact(sentence(body, status, facts.headers), facts.secrets).slice(0, MAX_MESSAGE),
    {
      ...(status === undefined ? {} : { status }),
      ...(body.words[0] === undefined ? {} : { rawCode: redact(body.words[0], facts.secrets) }),
      ...(retryable === undefined ? {} : { retryable }),
      ...verdict.options,
    },
  );
}

interface Verdict {
  readonly code: ProviderErrorCode;
  readonly options?: ProviderErrorOptions;
}

function judge(body: ErrorBody, status: number | undefined, facts: ErrorFacts): Verdict {
  if (status !== undefined && status < 400 && body.html) return { code: 'protocol', options: { retryable: false } };
  if (body.words.some((word) => OVERFLOW_WORDS.has(word))) return overflow(body);
  if (says(body, 'content_filter')) return { code: 'content_filter' };
  if (says(body, 'replay_rejected') && status !== 429) return { code: 'replay_rejected' };
  if (says(body, 'quota')) return { code: 'quota' };
  if (says(body, 'overloaded')) return waiting('overloaded', body, facts);
  if (status === 429 || body.limits.length > 0 || says(body, 'rate_limit')) return rateOrQuota(body, facts);
  const size = MAY_BE_SIZE.has(status ?? 0) ? sizeVerdict(body, status) : undefined;
  if (size !== undefined) return size;
  for (const code of ['timeout', 'auth', 'permission', 'not_found'] as const) {
    if (says(body, code) && (status === undefined || status < 500 || code === 'timeout')) return { code };
  }
  return general(body, status, facts);
}

/** Statuses under which vendors report that something is too long. 0 stands for none: an error inside a stream. */
const MAY_BE_SIZE: ReadonlySet<number> = new Set([0, 200, 400, 404, 413, 422, 500]);

function says(body: ErrorBody, code: keyof typeof SPECIFIC): boolean {
  const [words, phrases] = SPECIFIC[code];
  return body.words.some((word) => words.includes(word)) || phrases.some((phrase) => phrase.test(body.message));
}

function sizeVerdict(body: ErrorBody, status: number | undefined): Verdict | undefined {
  const matches = (phrases: readonly RegExp[]): boolean => phrases.some((phrase) => phrase.test(body.message));
  if (matches(OVERFLOW_PHRASES)) return overflow(body);
  // A name or an id that is too long is wrong by itself: nothing that is left out of the request mends it.
  if (FIELD_TOO_LONG.test(body.message)) return { code: 'invalid_request' };
  const numbers = overflowNumbers(body.message);
  const tooLarge: Verdict = {
    code: 'request_too_large',
    options: { numbers, maybeOverflow: body.message === '' },
  };
  if (body.words.some((word) => BYTES_WORDS.has(word)) || matches(BYTES_PHRASES)) return tooLarge;
  if (matches(OUTPUT_LIMIT_PHRASES)) return { code: 'invalid_request', options: { remedy: 'lower_output', numbers } };
  if (comparesTokens(body.message) || tellsOfOverflow(body.message)) return overflow(body);
  return status === 413 ? tooLarge : undefined;
}

function overflow(body: ErrorBody): Verdict {
  const read = overflowNumbers(body.message);
  const limit = body.contextTokens ?? read.limit;
  const requested = body.promptTokens ?? read.requested;
  const numbers: OverflowNumbers = {
    ...read,
    ...(limit === undefined ? {} : { limit }),
    ...(requested === undefined ? {} : { requested }),
  };
  return {
    code: 'context_overflow',
    options: { numbers, remedy: fitsWithLessOutput(numbers) ? 'lower_output' : 'compact' },
  };
}

/** Whether lowering the output limit alone makes the request fit, with room for a useful answer. */
function fitsWithLessOutput({ limit, input, output }: OverflowNumbers): boolean {
  if (limit === undefined || input === undefined || output === undefined) return false;
  const room = limit - input;
  return room >= Math.min(1024, limit / 8) && output > room;
}

/** A limit per minute refills; one per day, or an empty account, does not in any time worth waiting for. */
function rateOrQuota(body: ErrorBody, facts: ErrorFacts): Verdict {
  const daily = body.limits.some((limit) => /per_?day|daily/.test(limit));
  const perMinute = body.limits.some((limit) => /per_?minute|per_?second/.test(limit));
  if (daily) return { code: 'quota' };
  const verdict = waiting('rate_limit', body, facts);
  const wait = verdict.options?.retryAfterMs;
  const empty = /exceeded (?:your|the) current (?:token )?quota|check your plan and billing/i.test(body.message);
  if (empty && !perMinute && body.retryDelay === undefined) return { code: 'quota' };
  if (wait === undefined && /\bper day\b|\bdaily\b|\((?:rpd|tpd)\)/i.test(body.message)) return { code: 'quota' };
  const { limit, requested } = overflowNumbers(body.message);
  if (limit === undefined || requested === undefined || requested <= limit || !/per min|tpm/i.test(body.message))
    return verdict;
  // One request is larger than a whole minute's allowance: no wait helps, a smaller request does.
  return { code: 'rate_limit', options: { retryable: false, remedy: 'compact', numbers: { limit, requested } } };
}

/** A class that waiting mends, with the wait that the vendor asked for; a wait that is too long is not slept through. */
function waiting(code: ProviderErrorCode, body: ErrorBody, facts: ErrorFacts): Verdict {
  const wait = retryAfterMs({
    headers: facts.headers,
    message: body.message,
    retryDelay: body.retryDelay,
    nowMs: facts.nowMs,
    limited: code === 'rate_limit',
  });
  if (wait === undefined) return { code };
  return { code, options: { retryAfterMs: wait, ...(wait > MAX_WAIT_MS ? { retryable: false } : {}) } };
}

function general(body: ErrorBody, status: number | undefined, facts: ErrorFacts): Verdict {
  const byStatus =
    status === undefined ? undefined : (BY_STATUS[status] ?? (status >= 500 ? 'server_error' : undefined));
  const byWord = body.words.map((word) => GENERAL[word]).find((code) => code !== undefined);
  const code = byStatus ?? byWord ?? (status !== undefined && status >= 400 ? 'invalid_request' : 'server_error');
  // Ollama's truncation can drop the user's turn itself, and says only this.
  const lostTurn = /no user query found/i.test(body.message);
  if (code === 'server_error' || code === 'overloaded' || code === 'timeout') {
    const verdict = waiting(code, body, facts);
    return lostTurn ? { code, options: { ...verdict.options, maybeOverflow: true } } : verdict;
  }
  const mute = (code === 'invalid_request' || code === 'request_too_large') && body.message === '';
  return mute || lostTurn ? { code, options: { maybeOverflow: true } } : { code };
}

/** Classes that `x-should-retry: true` cannot make retryable: the same request cannot succeed. */
const NEVER: ReadonlySet<ProviderErrorCode> = new Set([
  'context_overflow',
  'request_too_large',
  'quota',
  'auth',
  'permission',
  'content_filter',
  'replay_rejected',
]);

function mayRetry(code: ProviderErrorCode, headers: HeaderBag | undefined): boolean | undefined {
  const wish = headers?.get('x-should-retry');
  if (wish === 'false') return false;
  return wish === 'true' && !NEVER.has(code) ? true : undefined;
}

function sentence(body: ErrorBody, status: number | undefined, headers: HeaderBag | undefined): string {
  const http = status === undefined ? 'The server reported an error' : `HTTP ${status}`;
  if (body.html)
    return `${http}: ${body.message} (content type ${headers?.get('content-type') ?? 'unknown'}, an HTML page)`;
  if (body.message !== '') return body.message;
  const words = body.words.join(', ');
  return words === '' ? `${http} without a body` : `${http}: ${words}`;
}
