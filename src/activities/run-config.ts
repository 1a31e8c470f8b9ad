import { StoreError } from '../store/errors.ts';
import type { Store } from '../store/store.ts';
import type { JsonObject } from '../transcript/json.ts';
import type { MessageRequest, ToolSpec } from '../transcript/message.ts';

/**
 * What is frozen when a run opens, so that every request of it starts with the same bytes and can be rebuilt later.
 * Kept in `agent_runs`; prompt and tools stand in `blobs`, once for all runs that share them.
 *
 * - 1: first version.
 */
export interface RunConfig {
  readonly schemaVersion: 1;
  readonly agent: string;
  /** `provider/model`. */
  readonly model: string;
  readonly promptSha256: string;
  readonly toolsSha256: string;
  readonly maxToolTurns: number;
  readonly maxParallelTools: number;
  readonly toolTimeoutSecs: number;
  readonly maxOutputTokens: number | null;
  readonly temperature: number | null;
  readonly thinking: NonNullable<MessageRequest['thinking']> | null;
}

/** A run's frozen settings with their blobs. */
export interface LoadedRunConfig {
  readonly config: RunConfig;
  readonly prompt: string;
  readonly tools: readonly ToolSpec[];
}

/** Stores prompt and tools by their hash and returns what to keep with the run. */
export async function freeze(
  store: Store,
  settings: Omit<RunConfig, 'schemaVersion' | 'promptSha256' | 'toolsSha256'>,
  prompt: string,
  tools: readonly ToolSpec[],
): Promise<RunConfig> {
  const encode = (text: string) => new TextEncoder().encode(text);
  const promptBlob = await store.putBlob(encode(prompt), 'text/plain');
  const toolsBlob = await store.putBlob(encode(JSON.stringify(tools)), 'application/json');
  return { schemaVersion: 1, ...settings, promptSha256: promptBlob.sha256, toolsSha256: toolsBlob.sha256 };
}

/** Loads frozen settings; the last few runs stay in memory. */
export function createRunConfigs(store: Store, capacity = 500): (runId: string) => Promise<LoadedRunConfig> {
  const cache = new Map<string, Promise<LoadedRunConfig>>();
  return (runId) => {
    const known = cache.get(runId);
    if (known !== undefined) return known;
    const loading = load(store, runId);
    cache.set(runId, loading);
    loading.catch(() => cache.delete(runId));
    const oldest = cache.keys().next().value;
    if (cache.size > capacity && oldest !== undefined) cache.delete(oldest);
    return loading;
  };
}

async function load(store: Store, runId: string): Promise<LoadedRunConfig> {
  const run = await store.run(runId);
  if (run === undefined)
    throw new StoreError(
      'NotFound',
      `run ${runId} is not in this store`,
      'Point HOLDFAST_STORE at the store of the run.',
    );
  const config = asRunConfig(run.config);
  const [prompt, tools] = await Promise.all([text(store, config.promptSha256), text(store, config.toolsSha256)]);
  return { config, prompt, tools: JSON.parse(tools) as readonly ToolSpec[] };
}

async function text(store: Store, sha256: string): Promise<string> {
  const bytes = await store.blob(sha256);
  if (bytes === undefined)
    throw new StoreError(
      'NotFound',
      `blob ${sha256} is not in the store`,
      'Restore the store from a backup that has it.',
    );
  return new TextDecoder().decode(bytes);
}

function asRunConfig(json: JsonObject): RunConfig {
  if (json.schemaVersion !== 1) {
    throw new StoreError('StoreTooNew', `run config has version ${String(json.schemaVersion)}`, 'Upgrade holdfast.');
  }
  return json as unknown as RunConfig;
}
