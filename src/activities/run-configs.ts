import { type LoadedRunConfig, loadRunConfig } from '../store/run-config.ts';
import type { Store } from '../store/store.ts';

export type RunConfigs = (runId: string) => Promise<LoadedRunConfig>;

/** Frozen settings of runs; those of the last few stay in memory. */
export function createRunConfigs(store: Store, capacity = 500): RunConfigs {
  const cache = new Map<string, Promise<LoadedRunConfig>>();
  return (runId) => {
    const known = cache.get(runId);
    if (known !== undefined) return known;
    const loading = loadRunConfig(store, runId);
    cache.set(runId, loading);
    loading.catch(() => cache.delete(runId));
    const oldest = cache.keys().next().value;
    if (cache.size > capacity && oldest !== undefined) cache.delete(oldest);
    return loading;
  };
}
