import type { Api } from '../../../src/transcript/items.ts';
import { type Obj, str } from './case-file.ts';

/** A wire format that a case can name. */
export type WireApi = Exclude<Api, 'offline'>;

/** Where a transcript is to go, or an answer came from. */
export interface Target {
  readonly api: WireApi;
  /** Whose endpoint it is: `openai`, `anthropic`, `deepseek`, … */
  readonly vendor: string;
  /** Name of the chat dialect, or of the law set for the other formats. */
  readonly dialect: string;
  /** Whether this is a vendor's imitation of another vendor's format. */
  readonly compatible: boolean;
}

const APIS: Readonly<Record<string, WireApi>> = {
  chat: 'openai-chat',
  'openai-chat': 'openai-chat',
  responses: 'openai-responses',
  'openai-responses': 'openai-responses',
  messages: 'anthropic',
  anthropic: 'anthropic',
};

/** Words for a chat endpoint beyond the dialects' own names. */
const CHAT_DIALECTS: Readonly<Record<string, string>> = {
  'openai-chat': 'openai',
  chat: 'openai',
  'openai-compatible': 'generic',
  compatible: 'generic',
  any: 'openai',
  'openai-compatible-strict': 'strict',
  'gemini-openai': 'gemini',
  google: 'gemini',
  'llama.cpp': 'llama-cpp',
  llamacpp: 'llama-cpp',
  dashscope: 'qwen',
  'azure-openai': 'azure',
  bedrock: 'bedrock',
};

const DEFAULT_VENDOR: Readonly<Record<WireApi, string>> = {
  'openai-chat': 'openai',
  'openai-responses': 'openai',
  anthropic: 'anthropic',
};

/**
 * Reads a target such as `anthropic`, `mistral`, `openai-compatible-strict`, `openai-compatible (bedrock behind a proxy)`
 * or `anthropic-compatible (deepseek)`: a format, and in brackets whose imitation of it.
 */
export function parseTarget(words: string, settings: Obj = {}): Target {
  const [, name = '', inBrackets = ''] = /^\s*([^\s(]+)\s*(?:\(([^)]*)\))?/.exec(words.toLowerCase()) ?? [];
  const bracket = /^[a-z0-9.-]+/.exec(inBrackets.trim())?.[0] ?? '';
  const format = name.replace(/-compatible$/, '');
  const compatible = name !== format;
  const api = format === 'openai' && compatible ? 'openai-chat' : APIS[format];
  if (api !== undefined && api !== 'openai-chat') {
    const vendor = compatible && bracket !== '' ? bracket : DEFAULT_VENDOR[api];
    return { api, vendor, dialect: compatible ? vendor : api, compatible };
  }
  const word = compatible && CHAT_DIALECTS[bracket] !== undefined ? bracket : name;
  const dialect = dialectOf(CHAT_DIALECTS[word] ?? word, settings);
  return { api: 'openai-chat', vendor: dialect.split('-')[0] ?? dialect, dialect, compatible };
}

/** The dialect that a case's own settings choose. */
function dialectOf(name: string, settings: Obj): string {
  const wish = str(settings.dialect).toLowerCase();
  if (name === 'deepseek' && /r1/.test(`${wish} ${/reasoner/.test(str(settings.model)) ? 'r1' : ''}`))
    return 'deepseek-r1';
  if (name === 'deepseek' && settings.thinking === 'enabled') return 'deepseek-thinking';
  return name;
}

/** Who made a piece of reasoning or ran a tool, as `provider` in a transcript names it. */
export function parseMaker(name: string, target: Target): Target {
  const words = name.toLowerCase();
  const suffix = /^(.+)-(anthropic|messages|responses|chat)$/.exec(words);
  const known = APIS[words];
  if (known !== undefined) return known === target.api && !target.compatible ? target : parseTarget(words);
  if (suffix?.[1] !== undefined && suffix[2] !== undefined) {
    const api = APIS[suffix[2]] ?? 'openai-chat';
    return sameMaker({ api, vendor: suffix[1], dialect: suffix[1], compatible: true }, target);
  }
  if (words === target.vendor) return target;
  return parseTarget(words);
}

function sameMaker(maker: Target, target: Target): Target {
  return maker.api === target.api && maker.vendor === target.vendor ? target : maker;
}

/** The target of an `api` word together with the case's provider. */
export function targetOfApi(api: string, provider: string): Target {
  const format = APIS[api] ?? 'openai-chat';
  if (format !== 'openai-chat') return parseTarget(format);
  return parseTarget(provider === 'anthropic' || provider === 'openai-responses' ? 'openai-chat' : provider);
}
