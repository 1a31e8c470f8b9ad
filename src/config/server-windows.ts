import { probeWindow } from '../providers/catalog-probe.ts';
import { endpoints, type UsableEndpoint } from './endpoints.ts';
import type { ConfigurableApi } from './known-providers.ts';
import type { Environment } from './load-config.ts';
import type { HoldfastConfig } from './settings.ts';

/** Milliseconds that a server has to say how large its model's window is: a run waits for it. */
const PROBE_MS = 2000;

/**
 * Asks the server of `provider/model` for the model's window, in tokens, for models that the catalog does not know.
 * Never rejects: `undefined` is "not known". What a server answered is kept, so that it is asked once a model; one that
 * did not answer is asked again next time.
 */
export function serverWindows(
  config: HoldfastConfig,
  env: Environment,
  ask: typeof fetch = fetch,
): (name: string) => Promise<number | undefined> {
  const usable = endpoints(config, env);
  const known = new Map<string, Promise<number | undefined>>();
  return (name) => {
    const before = known.get(name);
    if (before !== undefined) return before;
    const slash = name.indexOf('/');
    const endpoint = usable.get(name.slice(0, slash));
    const asked = endpoint === undefined ? Promise.resolve(undefined) : windowAt(endpoint, name.slice(slash + 1), ask);
    const kept = asked.catch(() => {
      known.delete(name);
      return undefined;
    });
    known.set(name, kept);
    return kept;
  };
}

async function windowAt(endpoint: UsableEndpoint, model: string, ask: typeof fetch): Promise<number | undefined> {
  const { api, baseURL, key, missingKey, headers } = endpoint;
  // Without an address the client goes to the vendor, whose models the catalog knows or nobody does.
  if (baseURL === undefined || missingKey !== undefined) return undefined;
  const signal = AbortSignal.timeout(PROBE_MS);
  const { root, auth } = PLACES[api](baseURL);
  const withKey = key === undefined ? headers : { ...auth(key), ...headers };
  return probeWindow({ baseUrl: root, model, headers: withKey, signal, fetch: ask });
}

interface Place {
  /** Where `/models` stands. */
  readonly root: string;
  readonly auth: (key: string) => Readonly<Record<string, string>>;
}

const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

const PLACES: Readonly<Record<ConfigurableApi, (baseURL: string) => Place>> = {
  'openai-chat': (root) => ({ root, auth: bearer }),
  'openai-responses': (root) => ({ root, auth: bearer }),
  anthropic: (baseURL) => ({
    root: `${baseURL}/v1`,
    auth: (key) => ({ 'x-api-key': key, 'anthropic-version': '2023-06-01' }),
  }),
};
