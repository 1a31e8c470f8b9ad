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
}

/**
 * Loads the catalog. The data (about 1 MB of code) are loaded by the first call only, so that a command which needs no
 * model starts without them.
 */
export async function loadCatalog(options: CatalogOptions = {}): Promise<Catalog> {
  const { loadSources } = await import('./catalog-sources.ts');
  return catalogOf(await loadSources(), options);
}

/** A catalog of given sources: pure. */
export function catalogOf(sources: CatalogSources, { overrides = {} }: CatalogOptions = {}): Catalog {
  const known = new Map<string, ModelFacts>();
  const facts = (name: string): ModelFacts => {
    const before = known.get(name);
    if (before !== undefined) return before;
    const slash = name.indexOf('/');
    const [provider, model] = slash < 0 ? ['', name] : [name.slice(0, slash), name.slice(slash + 1)];
    const family = FAMILIES.find(({ pattern }) => pattern.test(bareName(model)))?.facts ?? {};
    const wild = overrides[`${provider}/*`] ?? {};
    const own = overrides[name] ?? {};
    const made = [family, sources.prices(provider, model), sources.limits(provider, model), wild, own].reduce(merged, {
      abilities: {},
    });
    const result = { ...made, abilities: made.abilities ?? {} };
    known.set(name, result);
    return result;
  };
  return {
    facts,
    costUsd: (usage, name) => {
      const { prices } = facts(name);
      return prices === undefined ? null : costUsd(usage, prices);
    },
  };
}

/** A model's name without the maker's prefix that hubs put before it. */
function bareName(model: string): string {
  return model.slice(model.lastIndexOf('/') + 1).toLowerCase();
}

function merged(below: ModelOverride, above: ModelOverride): ModelOverride {
  return { ...below, ...above, abilities: { ...below.abilities, ...above.abilities } };
}
