import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { createAnthropicProvider } from '../../../src/providers/anthropic/adapter.ts';
import { accountOf, endpointOf } from '../../../src/providers/endpoint.ts';
import { openaiChat } from '../../../src/providers/openai-chat/adapter.ts';
import { DIALECTS, type Dialect } from '../../../src/providers/openai-chat/dialects.ts';
import { createResponsesProvider } from '../../../src/providers/openai-responses/adapter.ts';
import type { Provider } from '../../../src/providers/provider.ts';
import type { JsonObject } from '../../../src/transcript/json.ts';
import { isObj, type Obj } from './case-file.ts';
import type { Target } from './target.ts';

const API_KEY = 'test-key-not-a-secret';
/** Longer than a busy machine keeps recorded bytes waiting; an answer that hangs is given up sooner. */
const IDLE_MS = 60_000;
const HANGING_IDLE_MS = 500;

export interface ProviderSettings {
  readonly baseUrl: string;
  readonly builtinTools?: readonly JsonObject[];
  readonly settings?: Obj;
  /** An answer will hang. */
  readonly hangs?: boolean;
}

/** The product's provider for a target, with the vendor's real client pointed at the replay server. */
export function makeProvider(
  target: Target,
  { baseUrl, builtinTools = [], settings = {}, hangs = false }: ProviderSettings,
): Provider {
  const id = target.vendor;
  const idleTimeoutMs = hangs ? HANGING_IDLE_MS : IDLE_MS;
  if (target.api === 'anthropic') {
    const client = new Anthropic({ baseURL: baseUrl, apiKey: API_KEY, maxRetries: 0 });
    const unsignedThinking = target.compatible ? 'replay' : 'drop';
    return createAnthropicProvider({ id, client, idleTimeoutMs, builtinTools, unsignedThinking });
  }
  const client = new OpenAI({ baseURL: `${baseUrl}/v1`, apiKey: API_KEY, maxRetries: 0 });
  if (target.api === 'openai-responses') {
    const reasoning = target.compatible ? 'text' : 'encrypted';
    return createResponsesProvider({
      id,
      client,
      idleTimeoutMs,
      reasoning,
      builtinTools,
      ...(settings.store === true ? { store: true } : {}),
    });
  }
  return openaiChat({
    id,
    client,
    dialect: dialectOf(target, settings),
    endpoint: endpointOf(client.baseURL),
    account: accountOf(API_KEY),
    idleTimeoutMs,
    firstByteTimeoutMs: hangs ? 10_000 : IDLE_MS,
  });
}

/** The dialect's data, with what a case's settings say of the server. */
function dialectOf({ dialect }: Target, settings: Obj): Dialect {
  const base = Object.entries(DIALECTS).find(([name]) => name === dialect)?.[1];
  const maxTools = typeof settings.max_tools === 'number' ? settings.max_tools : undefined;
  const named: Dialect = base ?? {
    ...DIALECTS[dialect.startsWith('deepseek') ? 'deepseek' : 'generic'],
    ...SERVERS[dialect],
  };
  const strict = settings.strict === 'off' || settings.strict === false ? { strict: 'off' as const } : {};
  const flags = isObj(settings.dialect) ? settings.dialect : {};
  return {
    ...named,
    ...(flags.empty_content === undefined ? {} : { emptyContent: flags.empty_content as Dialect['emptyContent'] }),
    tools: { ...named.tools, ...strict, ...(maxTools === undefined ? {} : { maxTools }) },
  };
}

/** Servers that are described by one flag of the generic dialect. */
const SERVERS: Readonly<Record<string, Partial<Dialect>>> = {
  strict: { alternate: true },
  bedrock: { toolsForHistory: true },
  // Thinking is on, whatever the model is called.
  'deepseek-thinking': { reasoning: { ...DIALECTS.deepseek.reasoning, wantedBy: /./ } },
};
