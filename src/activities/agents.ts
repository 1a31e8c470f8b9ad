import type { Logger } from 'pino';
import { type CompactionConfig, DEFAULT_COMPACTION_CONFIG } from '../compaction/config.ts';
import type { Hook } from '../hooks/hooks.ts';
import type { Catalog } from '../providers/catalog.ts';
import type { ProviderRegistry } from '../providers/registry.ts';
import type { Store } from '../store/store.ts';
import type { ToolSource } from '../tools/mcp/tool-source.ts';
import type { OutputSchema } from '../tools/output-schema.ts';
import type { Policy } from '../tools/policy.ts';
import type { ToolRegistry } from '../tools/registry.ts';
import type { MessageRequest } from '../transcript/message.ts';

/** An agent as the worker runs it. */
export interface AgentSpec {
  readonly name: string;
  /** The first part of the system prompt. */
  readonly instructions: string;
  /** `provider/model`; absent: the worker's default. */
  readonly model?: string;
  /** Models to go on with, in this order, when one cannot. */
  readonly fallbacks?: readonly string[];
  readonly tools: ToolRegistry;
  /** Tools beside these that servers bring; what they are is frozen when a run opens, see `agentOf`. */
  readonly toolSource?: ToolSource;
  readonly maxToolTurns: number;
  readonly maxParallelTools: number;
  /** Seconds; a tool's own wins. */
  readonly toolTimeoutSecs: number;
  /** Tokens. */
  readonly maxOutputTokens?: number;
  readonly temperature?: number;
  readonly thinking?: MessageRequest['thinking'];
  /** The final answer must be JSON that fits. */
  readonly output?: OutputSchema;
  /** How its sessions are compacted; absent: as the worker's. */
  readonly compaction?: CompactionConfig;
  readonly budgets?: { readonly run?: AgentBudget; readonly session?: AgentBudget };
  /** What a used-up budget does; absent: it ends the run. */
  readonly onBudget?: 'stop' | 'ask';
}

/** Limits on what a run or a session may use up. Absent: no limit. */
export interface AgentBudget {
  readonly maxUsd?: number;
  readonly maxTokens?: number;
  /** Seconds of work; waiting for people does not count. */
  readonly maxDuration?: number;
}

/** A provider's own limits. */
export interface ProviderLimits {
  readonly requestsPerMinute?: number;
  readonly tokensPerMinute?: number;
}

/** What the activities of one worker work with. Everything is read-only and shared between attempts. */
export interface ActivityDeps {
  readonly store: Store;
  readonly agents: ReadonlyMap<string, AgentSpec>;
  readonly providers: ProviderRegistry;
  readonly catalog: Pick<Catalog, 'facts' | 'costUsd'>;
  /** Window in tokens as the server of `provider/model` says, for models that the catalog does not know. Never rejects. */
  readonly serverWindow?: (model: string) => Promise<number | undefined>;
  /** By provider id; kept across all workers of the store. */
  readonly rateLimits?: ReadonlyMap<string, ProviderLimits>;
  readonly log: Logger;
  /** Takes the worker's secrets out of what tools give and failures say. Absent: there are none. */
  readonly redact?: (text: string) => string;
  /** Code of the user that observes runs; absent: none. */
  readonly hooks?: readonly Hook[];
  /** Absolute path of the folder that the agents work on. */
  readonly workspace: string;
  /** How sessions are compacted; absent: by the defaults. */
  readonly compaction?: CompactionConfig;
  /** Which calls may run, must ask first, or may not run; absent: what is not read-only asks. */
  readonly policy?: Policy;
  /** How long a call waits for an approval, in seconds; absent: a day. */
  readonly approvalDeadlineSecs?: number;
}

/** How sessions of an agent are compacted. */
export function compactionOf(deps: Pick<ActivityDeps, 'compaction'>, agent?: AgentSpec): CompactionConfig {
  return agent?.compaction ?? deps.compaction ?? DEFAULT_COMPACTION_CONFIG;
}
