import type { ModelOverride } from '../providers/catalog.ts';
import type { HoldfastConfig } from './settings.ts';

/** What the config says of models, in the catalog's words. */
export function modelOverrides({ models = {} }: HoldfastConfig): Readonly<Record<string, ModelOverride>> {
  const entries = Object.entries(models).map(([name, { window, outputLimit, prices, abilities }]) => {
    const override: ModelOverride = {
      ...(window === undefined ? {} : { windowTokens: window }),
      ...(outputLimit === undefined ? {} : { maxOutputTokens: outputLimit }),
      ...(prices === undefined ? {} : { prices: [{ fromInputTokens: 0, ...prices }] as const }),
      ...(abilities === undefined ? {} : { abilities }),
    };
    return [name, override] as const;
  });
  return Object.fromEntries(entries);
}
