import type { Usage } from '../transcript/message.ts';
import { costUsd } from './catalog-cost.ts';
import { FAMILIES } from './catalog-families.ts';
import type { CatalogSources } from './catalog-sources.ts';

/** What a model can do. `undefined` is "not known", never "no". */
export interface Abilities {
  readonly tools?: boolean;
  readonly parallelTools?: boolean;
  readonly images?: boolean;
  readonly audio?: boolean;
  /** PDF files. */
  readonly files?: boolean;
  readonly reasoning?: boolean;
  /** Whether a repeated prefix is cheaper. */
  readonly caching?: boolean;
}

/** Prices in US dollars per million tokens, for requests whose whole input has at least `fromInputTokens`. */
export interface PriceTier {
  readonly fromInputTokens: number;
  readonly input: number;
  readonly output: number;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
  /** Where reasoning is billed apart from output. */
  readonly reasoning?: number;
}

/** What is known of one model. What is absent is unknown: the caller decides, nothing is guessed. */
export interface ModelFacts {
  /** Context window, input and output together. */
  readonly windowTokens?: number;
  readonly maxOutputTokens?: number;
  /** By rising `fromInputTokens`; the first is 0. Absent: the price is unknown, which is not free. */
  readonly prices?: readonly [PriceTier, ...PriceTier[]];
  readonly abilities: Abilities;
}

/** Facts from configuration; they win, key by key, abilities too. */
export interface ModelOverride extends Partial<Omit<ModelFacts, 'abilities'>> {
  readonly abilities?: Abilities;
}

export interface Catalog {
  /** Facts of `provider/model`. */
  facts(name: string): ModelFacts;
  /** What a call cost in US dollars, or `null` where the price is not known. */
  costUsd(usage: Usage, name: string): number | null;
}

export interface CatalogOptions {
  /** By `provider/model`, or `provider/*` for all models of a provider. */
  readonly overrides?: Readonly<Record<string, ModelOverride>>;
  /** For prices that change by the hour. Default: the clock. */
  readonly now?: () => Date;
}

/**
 * Loads the catalog. The data (about 1 MB of code) are loaded by the first call only, so that a command which needs no
 * model starts without them.
 */
export async function loadCatalog(options: CatalogOptions = {}): Promise<Catalog> {
  const { loadSources } = await import('./catalog-sources.ts');
  return catalogOf(await loadSources(), options);
}

/** A catalog of given sources; its answers depend on these and on `now` alone. */
export function catalogOf(sources: CatalogSources, options: CatalogOptions = {}): Catalog {
  const { overrides = {}, now = () => new Date() } = options;
  const layersOf = lasting(sources, overrides);
  const facts = (name: string): ModelFacts => {
    const { provider, model, below, above } = layersOf(name);
    const layers = [...below, sources.prices(provider, model, now()), ...above];
    const made = layers.reduce(merged, { abilities: {} });
    return { ...made, abilities: made.abilities ?? {} };
  };
  return {
    facts,
    costUsd: (usage, name) => {
      const { prices } = facts(name);
      return prices === undefined ? null : costUsd(usage, prices);
    },
  };
}

interface Layers {
  readonly provider: string;
  readonly model: string;
  /** Under and over the prices. */
  readonly below: readonly ModelOverride[];
  readonly above: readonly ModelOverride[];
}

/** All that is known of a model but its prices, looked up once. */
function lasting(
  sources: CatalogSources,
  overrides: Readonly<Record<string, ModelOverride>>,
): (name: string) => Layers {
  const known = new Map<string, Layers>();
  return (name) => {
    const before = known.get(name);
    if (before !== undefined) return before;
    const slash = name.indexOf('/');
    const [provider, model] = slash < 0 ? ['', name] : [name.slice(0, slash), name.slice(slash + 1)];
    const family = FAMILIES.find(({ pattern }) => pattern.test(bareName(model)))?.facts ?? {};
    const own = [overrides[`${provider}/*`] ?? {}, overrides[name] ?? {}];
    const layers = { provider, model, below: [family], above: [sources.limits(provider, model), ...own] };
    known.set(name, layers);
    return layers;
  };
}

/** A model's name without the maker's prefix that hubs put before it. */
function bareName(model: string): string {
  return model.slice(model.lastIndexOf('/') + 1).toLowerCase();
}

function merged(below: ModelOverride, above: ModelOverride): ModelOverride {
  return { ...below, ...above, abilities: { ...below.abilities, ...above.abilities } };
}
