import type Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { HoldfastError } from '../contract/errors.ts';
import { accountOf, endpointOf } from '../providers/endpoint.ts';
import { createOfflineProvider } from '../providers/offline/adapter.ts';
import { openaiChat } from '../providers/openai-chat/adapter.ts';
import { createResponsesProvider } from '../providers/openai-responses/adapter.ts';
import type { Provider } from '../providers/provider.ts';
import { createProviderRegistry, ModelResolutionError, type ProviderRegistry } from '../providers/registry.ts';
import { endpoints, type UsableEndpoint } from './endpoints.ts';
import type { ConfigurableApi } from './known-providers.ts';
import type { Environment } from './load-config.ts';
import type { HoldfastConfig } from './settings.ts';

/** Milliseconds for a whole response; adapters notice stalls much earlier. */
const REQUEST_MS = 600_000;
/** What clients demand where a server wants no key. */
const NO_KEY = 'none';

/**
 * Makes all providers that can be used, those whose key is set and those that need none, and `offline`.
 *
 * @param defaultModel `provider/model`, see `resolveModel`.
 * @throws HoldfastError `UnknownModel` when the default leads nowhere.
 */
export async function buildProviders(
  config: HoldfastConfig,
  env: Environment,
  defaultModel: string,
): Promise<ProviderRegistry> {
  const usable = [...endpoints(config, env).values()].filter(({ missingKey }) => missingKey === undefined);
  const built = await Promise.all(usable.map((endpoint) => BUILD[endpoint.api](endpoint, env)));
  const providers = [...built, createOfflineProvider()];
  try {
    return createProviderRegistry({ providers, default: defaultModel });
  } catch (error) {
    if (!(error instanceof ModelResolutionError)) throw error;
    throw new HoldfastError('UnknownModel', error.message, { cause: error });
  }
}

type Build = (endpoint: UsableEndpoint, env: Environment) => Provider | Promise<Provider>;

const BUILD: Readonly<Record<ConfigurableApi, Build>> = {
  'openai-chat': (endpoint, env) => {
    const client = openaiClient(endpoint, env);
    return openaiChat({
      id: endpoint.id,
      client,
      dialect: endpoint.dialect ?? 'generic',
      endpoint: endpointOf(client.baseURL),
      account: accountOf(endpoint.key),
    });
  },
  'openai-responses': (endpoint, env) =>
    createResponsesProvider({
      id: endpoint.id,
      client: openaiClient(endpoint, env),
      account: accountOf(endpoint.key),
      ...(endpoint.reasoning === undefined ? {} : { reasoning: endpoint.reasoning }),
    }),
  // Loaded where its key is set only: half a second of a worker's start.
  anthropic: async (endpoint) => {
    const [{ default: Client }, { createAnthropicProvider }] = await Promise.all([
      import('@anthropic-ai/sdk'),
      import('../providers/anthropic/adapter.ts'),
    ]);
    const client = anthropicClient(Client, endpoint);
    const { id, unsignedThinking } = endpoint;
    return createAnthropicProvider({
      id,
      client,
      account: accountOf(endpoint.key),
      ...(unsignedThinking === undefined ? {} : { unsignedThinking }),
    });
  },
};

/** Everything is given: the clients would read the environment by themselves, and send one vendor's settings to another. */
function openaiClient({ baseURL, key, headers, id }: UsableEndpoint, env: Environment): OpenAI {
  const own = id === 'openai' || id === 'openai-responses';
  return new OpenAI({
    apiKey: key ?? NO_KEY,
    baseURL: baseURL ?? 'https://api.openai.com/v1',
    organization: own ? (env.OPENAI_ORG_ID ?? null) : null,
    project: own ? (env.OPENAI_PROJECT_ID ?? null) : null,
    defaultHeaders: headers,
    maxRetries: 0,
    timeout: REQUEST_MS,
  });
}

function anthropicClient(Client: typeof Anthropic, { baseURL, key, headers }: UsableEndpoint): Anthropic {
  return new Client({
    apiKey: key ?? NO_KEY,
    authToken: null,
    baseURL: baseURL ?? 'https://api.anthropic.com',
    defaultHeaders: headers,
    maxRetries: 0,
    timeout: REQUEST_MS,
  });
}
