import { isJsonObject } from '../transcript/json.ts';

/** What an error answer says, whatever its shape. */
export interface ErrorBody {
  /** The vendor's sentence; empty when it said nothing. */
  readonly message: string;
  /** Codes, types and status words of every level, lower case. */
  readonly words: readonly string[];
  /** HTTP status that the body names, when the answer itself has none (errors inside a stream). */
  readonly status: number | undefined;
  /** Names of the limits that were hit, as Google's error details have them, lower case. */
  readonly limits: readonly string[];
  /** `retryDelay` of a `google.rpc.RetryInfo`. */
  readonly retryDelay: string | undefined;
  /** Numbers that stand in fields of their own (llama.cpp). */
  readonly promptTokens: number | undefined;
  readonly contextTokens: number | undefined;
  readonly html: boolean;
}

/** Deepest nesting of errors in errors that is looked into. */
const MAX_DEPTH = 12;

interface Draft {
  messages: string[];
  words: string[];
  status: number | undefined;
  limits: string[];
  retryDelay: string | undefined;
  promptTokens: number | undefined;
  contextTokens: number | undefined;
}

/** Reads an error body: parsed JSON of any shape, a JSON text, plain text, an HTML page or nothing. Never throws. */
export function readErrorBody(body: unknown): ErrorBody {
  const draft: Draft = {
    messages: [],
    words: [],
    status: undefined,
    limits: [],
    retryDelay: undefined,
    promptTokens: undefined,
    contextTokens: undefined,
  };
  const html = typeof body === 'string' && isHtml(body);
  if (html) draft.messages.push(htmlTitle(body));
  else read(body, draft, 0);
  const { messages, ...rest } = draft;
  return { ...rest, message: [...new Set(messages)].join(': '), html };
}

export function isHtml(text: string): boolean {
  return /^\s*<(?:!doctype|html|head|body|\?xml)/i.test(text);
}

/** A page in a few words: its title, else its first heading. */
export function htmlTitle(page: string): string {
  const found = /<title[^>]*>([^<]*)</i.exec(page) ?? /<h1[^>]*>([^<]*)</i.exec(page);
  return (found?.[1] ?? '').trim() || 'an HTML page';
}

function read(value: unknown, draft: Draft, depth: number): void {
  if (depth > MAX_DEPTH) return;
  if (typeof value === 'string') readText(value, draft, depth);
  else if (Array.isArray(value)) {
    for (const entry of value.slice(0, 3)) read(entry, draft, depth + 1);
  } else if (isJsonObject(value)) readObject(value, draft, depth);
}

function readText(text: string, draft: Draft, depth: number): void {
  const trimmed = text.trim();
  if (trimmed === '') return;
  const json = /^[[{]/.test(trimmed) ? parsed(trimmed) : undefined;
  if (json === undefined) draft.messages.push(trimmed);
  else read(json, draft, depth + 1);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const WORD_KEYS = ['code', 'type', 'status', '__type', 'reason', 'error_code', 'err_code', 'status_code'] as const;
const MESSAGE_KEYS = ['message', 'msg', 'error_msg', 'error_message', 'detail', 'title'] as const;
const INNER_KEYS = ['error', 'errors', 'innererror', 'metadata', 'raw', 'details', 'base_resp'] as const;

function readObject(value: Readonly<Record<string, unknown>>, draft: Draft, depth: number): void {
  for (const key of WORD_KEYS) readWord(value[key], draft);
  draft.status ??= httpStatus(value.code) ?? httpStatus(value.status) ?? httpStatus(value.status_code);
  if (typeof value.status_msg === 'string') readText(value.status_msg, draft, depth);
  for (const key of MESSAGE_KEYS) {
    if (value[key] !== undefined && value[key] !== null) read(value[key], draft, depth + 1);
  }
  draft.retryDelay ??= typeof value.retryDelay === 'string' ? value.retryDelay : undefined;
  draft.promptTokens ??= tokens(value.n_prompt_tokens);
  draft.contextTokens ??= tokens(value.n_ctx);
  for (const key of ['quotaId', 'quotaMetric', 'quota_limit', 'quota_metric'] as const) {
    const limit = value[key];
    if (typeof limit === 'string') draft.limits.push(limit.toLowerCase());
  }
  if (Array.isArray(value.violations)) read(value.violations, draft, depth + 1);
  for (const key of INNER_KEYS) read(value[key], draft, depth + 1);
}

function readWord(word: unknown, draft: Draft): void {
  if (typeof word === 'string' && word !== '') draft.words.push(word.toLowerCase());
  if (typeof word === 'number') draft.words.push(String(word));
}

function httpStatus(value: unknown): number | undefined {
  const number = typeof value === 'string' && /^\d{3}$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isInteger(number) && number >= 400 && number <= 599 ? number : undefined;
}

function tokens(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : undefined;
}
