import type { JsonObject } from '../../transcript/json.ts';

/** What is the same for all requests to one Responses endpoint. */
export interface ResponsesOptions {
  /** Whether the server keeps items, so that they may be named by id later. Default false: everything travels in each request. */
  readonly store?: boolean;
  /**
   * How reasoning goes back. `encrypted`: the item with its encrypted content (OpenAI). `text`: its text as `reasoning_text`
   * before every call of its response (servers whose models read their own reasoning, such as DeepSeek's). Default `encrypted`.
   */
  readonly reasoning?: 'encrypted' | 'text';
  /** Traits of a model; by name where not given, see {@link modelTraits}. */
  readonly traits?: (model: string) => ModelTraits;
  /** Whether a model takes images; default yes. */
  readonly takesImages?: (model: string) => boolean;
  /** Tools that the provider runs itself, in its own form, such as `{ type: 'web_search' }`. */
  readonly builtinTools?: readonly JsonObject[];
  /** Groups requests that share a prefix, for the server's prompt cache. */
  readonly promptCacheKey?: string;
}

export interface ModelTraits {
  /** `unknown` models are asked for encrypted reasoning, but not told how to reason. */
  readonly reasons: 'yes' | 'no' | 'unknown';
  /** The effort word that turns reasoning off, where there is one. */
  readonly offEffort?: 'none' | 'minimal';
}

/**
 * What OpenAI's models take, by name: others refuse `reasoning` and `include: reasoning.encrypted_content` ("Encrypted
 * content is not supported with this model"), and reasoning ones refuse a temperature.
 */
export function modelTraits(model: string): ModelTraits {
  const name = model.slice(model.lastIndexOf('/') + 1);
  if (/^(?:gpt-[34]|chatgpt-4o|gpt-5[\d.]*-chat|computer-use)/.test(name)) return { reasons: 'no' };
  if (/^gpt-5(?:-|$)/.test(name)) return { reasons: 'yes', offEffort: 'minimal' };
  if (/^gpt-(?:5\.\d|[6-9])/.test(name)) return { reasons: 'yes', offEffort: 'none' };
  if (/^o\d|^codex|^gpt-oss/.test(name)) return { reasons: 'yes' };
  return { reasons: 'unknown' };
}
