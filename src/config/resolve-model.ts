import { HoldfastError } from '../contract/errors.ts';
import { endpoints, OFFLINE, type UsableEndpoint } from './endpoints.ts';
import { KNOWN_PROVIDERS } from './known-providers.ts';
import type { Environment } from './load-config.ts';
import { firstLocalModel, type LocalModel } from './local-servers.ts';
import type { HoldfastConfig } from './settings.ts';

/** The model that answers when an agent names none, and why it. */
export interface ChosenModel {
  /** `provider/model`. */
  readonly name: string;
  readonly source: 'HOLDFAST_MODEL' | 'config' | 'key' | 'local' | 'offline';
  /** One line for people. */
  readonly reason: string;
}

export interface ResolveModelOptions {
  readonly config: HoldfastConfig;
  readonly env: Environment;
  /** Default: asks the ports of {@link firstLocalModel}. */
  readonly probe?: () => Promise<LocalModel | undefined>;
}

/**
 * Chooses the default model: `HOLDFAST_MODEL`, the config's, the provider whose key is set, a local server that
 * answers, `offline/extractive`.
 *
 * @throws HoldfastError `UnknownModel`, `MissingKey` for a model that was named.
 */
export async function resolveModel({
  config,
  env,
  probe = firstLocalModel,
}: ResolveModelOptions): Promise<ChosenModel> {
  const named = env.HOLDFAST_MODEL?.trim();
  if (named) {
    requireUsable(named, config, env);
    return { name: named, source: 'HOLDFAST_MODEL', reason: 'HOLDFAST_MODEL names it' };
  }
  if (config.model !== undefined) {
    requireUsable(config.model, config, env);
    return { name: config.model, source: 'config', reason: 'the config names it' };
  }
  const keyed = byKey(endpoints(config, env));
  if (keyed !== undefined) return keyed;
  const local = await probe();
  if (local !== undefined) {
    return {
      name: `${local.provider}/${local.model}`,
      source: 'local',
      reason: `a server answers at ${local.baseURL}`,
    };
  }
  return {
    name: `${OFFLINE}/extractive`,
    source: 'offline',
    reason: 'no key is set and no local server answers; it searches and quotes, it is no language model',
  };
}

function byKey(known: ReadonlyMap<string, UsableEndpoint>): ChosenModel | undefined {
  for (const [id, { defaultModel }] of Object.entries(KNOWN_PROVIDERS)) {
    const endpoint = known.get(id);
    if (defaultModel === undefined || endpoint?.key === undefined) continue;
    const variable = endpoint.keyEnv?.join(' or ') ?? '';
    return { name: `${id}/${defaultModel}`, source: 'key', reason: `${variable} is set` };
  }
  return undefined;
}

/**
 * Checks before anything starts that a model can be asked: the provider exists and has its key.
 *
 * @throws HoldfastError `UnknownModel`, `MissingKey`
 */
export function requireUsable(name: string, config: HoldfastConfig, env: Environment): void {
  const slash = name.indexOf('/');
  const [id, model] = [name.slice(0, Math.max(slash, 0)), name.slice(slash + 1)];
  const known = endpoints(config, env);
  if (slash <= 0 || model === '') {
    throw new HoldfastError('UnknownModel', `${JSON.stringify(name)} is not of the form provider/model`);
  }
  if (id === OFFLINE) return;
  const endpoint = known.get(id);
  if (endpoint === undefined) {
    const ids = [...known.keys(), OFFLINE].join(', ');
    throw new HoldfastError(
      'UnknownModel',
      `there is no provider ${JSON.stringify(id)} for the model ${name} (there are: ${ids})`,
    );
  }
  if (endpoint.missingKey === undefined) return;
  throw new HoldfastError('MissingKey', `${name} needs ${endpoint.missingKey}, which is not set`, {
    hint: `Set ${endpoint.missingKey}, or choose another model with HOLDFAST_MODEL.`,
  });
}
