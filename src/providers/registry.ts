import type { Provider } from './provider.ts';

/**
 * Why a model name leads nowhere. `malformed`: not `provider/model`. `unknown_provider`: no such prefix.
 * `unknown_model`: the provider serves a closed list and this is not on it. `no_default`: no name given and none configured.
 */
export type ModelResolutionErrorCode = 'malformed' | 'unknown_provider' | 'unknown_model' | 'no_default';

/** A model name that cannot be used. The message is one sentence that a person can act on. */
export class ModelResolutionError extends Error {
  override readonly name = 'ModelResolutionError';
  readonly code: ModelResolutionErrorCode;
  readonly model: string;

  constructor(code: ModelResolutionErrorCode, model: string, message: string) {
    super(message);
    this.code = code;
    this.model = model;
  }
}

/** Where a model name leads: who serves it, and the model's id as that endpoint knows it. */
export interface ResolvedModel {
  readonly provider: Provider;
  readonly model: string;
  /** `provider/model`. */
  readonly name: string;
}

/** The providers of one worker, by id. */
export interface ProviderRegistry {
  /** Ids in the order of registration. */
  readonly ids: readonly string[];
  /** `provider/model` used where none is named. */
  readonly defaultModel: string | undefined;
  /**
   * Resolves `provider/model`; the model part may hold slashes. Without a name, the default.
   *
   * @throws ModelResolutionError
   */
  resolve(name?: string): ResolvedModel;
  get(providerId: string): Provider | undefined;
}

export interface ProviderRegistryOptions {
  readonly providers: readonly Provider[];
  /** `provider/model`. */
  readonly default?: string;
}

/**
 * Collects providers under their ids.
 *
 * @throws ModelResolutionError when the default does not resolve; TypeError when two providers share an id or an id holds a slash.
 */
export function createProviderRegistry(options: ProviderRegistryOptions): ProviderRegistry {
  const byId = new Map<string, Provider>();
  for (const provider of options.providers) {
    if (provider.id === '' || provider.id.includes('/')) throw new TypeError(`bad provider id "${provider.id}"`);
    if (byId.has(provider.id)) throw new TypeError(`two providers have the id "${provider.id}"`);
    byId.set(provider.id, provider);
  }
  const registry: ProviderRegistry = {
    ids: [...byId.keys()],
    defaultModel: options.default,
    get: (providerId) => byId.get(providerId),
    resolve: (name) => resolve(byId, name ?? options.default),
  };
  if (options.default !== undefined) registry.resolve(options.default);
  return registry;
}

function resolve(byId: ReadonlyMap<string, Provider>, name: string | undefined): ResolvedModel {
  if (name === undefined) throw new ModelResolutionError('no_default', '', 'No model is named and no default is set.');
  const known = [...byId.keys()].join(', ');
  const slash = name.indexOf('/');
  const model = name.slice(slash + 1);
  if (slash <= 0 || model === '') {
    throw new ModelResolutionError(
      'malformed',
      name,
      `"${name}" is not of the form provider/model (providers: ${known}).`,
    );
  }
  const provider = byId.get(name.slice(0, slash));
  if (provider === undefined) {
    const message = `No provider "${name.slice(0, slash)}" for the model "${name}" (providers: ${known}).`;
    throw new ModelResolutionError('unknown_provider', name, message);
  }
  if (provider.models !== undefined && !provider.models.includes(model)) {
    const message = `The provider "${provider.id}" has no model "${model}" (it has: ${provider.models.join(', ')}).`;
    throw new ModelResolutionError('unknown_model', name, message);
  }
  return { provider, model, name };
}
