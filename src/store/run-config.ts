import type { RequestSettings } from '../transcript/build-request.ts';
import type { JsonObject } from '../transcript/json.ts';
import type { ToolSpec } from '../transcript/message.ts';
import type { BudgetRoot, RunBudgets } from './budget-port.ts';
import { StoreError } from './errors.ts';
import { notFound } from './refusals.ts';
import type { Store } from './store.ts';
import { fromJson } from './stored-json.ts';

/**
 * What is frozen when a run opens, so that every request of it starts with the same bytes and can be rebuilt later.
 * Kept in `agent_runs`; prompt and tools stand in `blobs`, once for all runs that share them.
 *
 * - 1: first version.
 */
export interface RunConfig extends Omit<RequestSettings, 'prompt' | 'tools'> {
  readonly schemaVersion: 1;
  readonly agent: string;
  /** `provider/model`. */
  readonly model: string;
  readonly fallbacks: readonly string[];
  readonly promptSha256: string;
  readonly toolsSha256: string;
  readonly maxToolTurns: number;
  readonly maxParallelTools: number;
  readonly toolTimeoutSecs: number;
  /** Context window that views are budgeted for, in tokens. */
  readonly window: number;
  /** Set for a subagent: the run at the top of its tree, whose budgets it shares. */
  readonly root?: BudgetRoot;
  /** Absent: no limits. */
  readonly budgets?: RunBudgets;
}

/** A run's frozen settings with what their hashes stand for. */
export interface LoadedRunConfig extends RequestSettings {
  readonly config: RunConfig;
}

/** Stores prompt and tools by their hash and returns what to keep with the run. */
export async function freezeRunConfig(
  store: Store,
  settings: Omit<RunConfig, 'schemaVersion' | 'promptSha256' | 'toolsSha256'>,
  prompt: string,
  tools: readonly ToolSpec[],
): Promise<RunConfig> {
  const encode = (text: string) => new TextEncoder().encode(text);
  const { sha256: promptSha256 } = await store.putBlob(encode(prompt), 'text/plain');
  const { sha256: toolsSha256 } = await store.putBlob(encode(JSON.stringify(tools)), 'application/json');
  return { schemaVersion: 1, ...settings, promptSha256, toolsSha256 };
}

/** @throws StoreError `NotFound`, `StoreTooNew`. */
export async function loadRunConfig(store: Store, runId: string): Promise<LoadedRunConfig> {
  const run = await store.run(runId);
  if (run === undefined) throw notFound(`run ${runId} is not in this store`);
  const config = runConfigOf(run.config);
  const [prompt, tools] = await Promise.all([text(store, config.promptSha256), text(store, config.toolsSha256)]);
  const { maxOutputTokens, temperature, thinking, outputSchema } = config;
  return {
    config,
    prompt,
    tools: JSON.parse(tools) as readonly ToolSpec[],
    maxOutputTokens,
    temperature,
    thinking,
    outputSchema,
  };
}

async function text(store: Store, sha256: string): Promise<string> {
  const bytes = await store.blob(sha256);
  if (bytes === undefined) throw notFound(`blob ${sha256} is not in this store`);
  return new TextDecoder().decode(bytes);
}

/** A run's settings as its row has them. @throws StoreError `StoreTooNew`. */
export function runConfigOf(json: JsonObject): RunConfig {
  if (json.schemaVersion === 1) return fromJson<RunConfig>(json);
  throw new StoreError('StoreTooNew', `The run's settings have version ${json.schemaVersion}.`, 'Upgrade holdfast.');
}
