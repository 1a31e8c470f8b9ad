import { type ContextConfig, DEFAULT_CONTEXT_CONFIG } from '../transcript/budget.ts';

/** When, how far and by whom a long session is compacted, with every default filled in. */
export interface CompactionConfig extends ContextConfig {
  /** `false`: never, not even when somebody asks. */
  readonly enabled: boolean;
  /** Whether it also happens by itself. */
  readonly autoEnabled: boolean;
  /** Turns of history that a request may hold; `null`: no limit. A turn is a message of a person and all that answers it. */
  readonly maxHistoryTurns: number | null;
  /** Messages that microcompact leaves alone. */
  readonly keepRecentMessages: number;
  /** Whether a maintenance pass prunes old thinking too. */
  readonly compactThinking: boolean;
  /** Bytes that the media of a request may take as base64; the oldest become notes beyond it. */
  readonly maxMediaBytes: number;
  /** `provider/model` that writes summaries; `null`: the model of the run. */
  readonly model: string | null;
}

export const DEFAULT_COMPACTION_CONFIG: CompactionConfig = {
  ...DEFAULT_CONTEXT_CONFIG,
  enabled: true,
  autoEnabled: true,
  maxHistoryTurns: null,
  keepRecentMessages: 10,
  compactThinking: false,
  // Bedrock takes bodies of 20 MB, Anthropic of 32 MB, others of more.
  maxMediaBytes: 18_000_000,
  model: null,
};

/** What people write: any of the keys. A key that is there but `undefined` counts as absent. */
export type CompactionOverrides = { readonly [Key in keyof CompactionConfig]?: CompactionConfig[Key] | undefined };

/** Defaults, then each layer over the one before: the config's, then the agent's own. */
export function compactionConfig(...layers: readonly (CompactionOverrides | undefined)[]): CompactionConfig {
  const told = layers.flatMap((layer) => Object.entries(layer ?? {})).filter(([, value]) => value !== undefined);
  return { ...DEFAULT_COMPACTION_CONFIG, ...Object.fromEntries(told) };
}
