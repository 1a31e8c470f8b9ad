import type { DialectName } from '../providers/openai-chat/dialects.ts';
import type { Api } from '../transcript/items.ts';

/** Wire formats that a provider of the config may speak. */
export type ConfigurableApi = Exclude<Api, 'offline'>;

/** How to reach a provider. */
export interface Endpoint {
  readonly api: ConfigurableApi;
  /** Only for `openai-chat`. Default `generic`. */
  readonly dialect?: DialectName;
  readonly baseURL?: string;
  /** Environment variables that may hold the key, the first that is set wins. Absent: none is needed. */
  readonly keyEnv?: readonly string[];
}

/** A provider that needs no configuration but its key. */
export interface KnownProvider extends Endpoint {
  /** Environment variable that overrides `baseURL`. */
  readonly baseUrlEnv?: string;
  /** Model used when the key is set and nothing else is chosen; absent: the provider is never chosen by itself. */
  readonly defaultModel?: string;
}

/** In the order in which keys are looked for when no model is named. */
export const KNOWN_PROVIDERS: Readonly<Record<string, KnownProvider>> = {
  anthropic: {
    api: 'anthropic',
    baseURL: 'https://api.anthropic.com',
    keyEnv: ['ANTHROPIC_API_KEY'],
    baseUrlEnv: 'ANTHROPIC_BASE_URL',
    defaultModel: 'claude-sonnet-4-5',
  },
  openai: {
    api: 'openai-chat',
    dialect: 'openai',
    baseURL: 'https://api.openai.com/v1',
    keyEnv: ['OPENAI_API_KEY'],
    baseUrlEnv: 'OPENAI_BASE_URL',
    defaultModel: 'gpt-5.1',
  },
  // The same account by the other wire format.
  'openai-responses': {
    api: 'openai-responses',
    baseURL: 'https://api.openai.com/v1',
    keyEnv: ['OPENAI_API_KEY'],
    baseUrlEnv: 'OPENAI_BASE_URL',
  },
  deepseek: {
    api: 'openai-chat',
    dialect: 'deepseek',
    baseURL: 'https://api.deepseek.com',
    keyEnv: ['DEEPSEEK_API_KEY'],
    baseUrlEnv: 'DEEPSEEK_BASE_URL',
    defaultModel: 'deepseek-chat',
  },
  gemini: {
    api: 'openai-chat',
    dialect: 'gemini',
    baseURL: 'https://generativelanguage.googleapis.com/v1beta/openai',
    keyEnv: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'],
    defaultModel: 'gemini-2.5-flash',
  },
  mistral: {
    api: 'openai-chat',
    dialect: 'mistral',
    baseURL: 'https://api.mistral.ai/v1',
    keyEnv: ['MISTRAL_API_KEY'],
    defaultModel: 'mistral-medium-latest',
  },
  qwen: {
    api: 'openai-chat',
    dialect: 'qwen',
    baseURL: 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1',
    keyEnv: ['DASHSCOPE_API_KEY'],
    baseUrlEnv: 'DASHSCOPE_BASE_URL',
    defaultModel: 'qwen-plus',
  },
  openrouter: {
    api: 'openai-chat',
    dialect: 'openrouter',
    baseURL: 'https://openrouter.ai/api/v1',
    keyEnv: ['OPENROUTER_API_KEY'],
    defaultModel: 'openrouter/auto',
  },
  groq: {
    api: 'openai-chat',
    dialect: 'generic',
    baseURL: 'https://api.groq.com/openai/v1',
    keyEnv: ['GROQ_API_KEY'],
    defaultModel: 'openai/gpt-oss-120b',
  },
  xai: {
    api: 'openai-chat',
    dialect: 'generic',
    baseURL: 'https://api.x.ai/v1',
    keyEnv: ['XAI_API_KEY'],
    defaultModel: 'grok-4',
  },
  moonshot: {
    api: 'openai-chat',
    dialect: 'generic',
    baseURL: 'https://api.moonshot.ai/v1',
    keyEnv: ['MOONSHOT_API_KEY'],
    defaultModel: 'kimi-k2-turbo-preview',
  },
};

/** Servers on this machine, by the ports they listen on out of the box; in the order in which they are preferred. */
export const LOCAL_SERVERS: Readonly<Record<string, Endpoint & { readonly baseURL: string }>> = {
  ollama: { api: 'openai-chat', dialect: 'ollama', baseURL: 'http://127.0.0.1:11434/v1' },
  'llama-cpp': { api: 'openai-chat', dialect: 'llama-cpp', baseURL: 'http://127.0.0.1:8080/v1' },
  lmstudio: { api: 'openai-chat', dialect: 'generic', baseURL: 'http://127.0.0.1:1234/v1' },
  vllm: { api: 'openai-chat', dialect: 'vllm', baseURL: 'http://127.0.0.1:8000/v1' },
};
