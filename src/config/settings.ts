import type { z } from 'zod';
import type { Hook } from '../hooks/hooks.ts';
import type { Abilities } from '../providers/catalog.ts';
import type { DialectName } from '../providers/openai-chat/dialects.ts';
import type { PolicyRule } from '../tools/policy.ts';
import type { Tool } from '../tools/tool.ts';
import type { MessageRequest } from '../transcript/message.ts';
import type { ConfigurableApi } from './known-providers.ts';

/** Limits on what a run or a session may use up. Absent: no limit. */
interface Budget {
  readonly maxUsd?: number;
  readonly maxTokens?: number;
  /** Seconds of work; waiting for people does not count. */
  readonly maxDuration?: number;
}

/** An agent: instructions, a model, tools and limits. */
export interface AgentSettings {
  /** `[A-Za-z0-9._-]{1,64}`; the agent that answers when none is named is called `default`. */
  readonly name: string;
  /** What it is for, in a sentence: other agents are told when they may give it tasks. */
  readonly description?: string;
  /** The first part of the system prompt. */
  readonly instructions?: string;
  /** `provider/model`; absent: the config's. */
  readonly model?: string;
  /** Models to go on with when the first one cannot: wrong key, no credit, unknown, overloaded again and again. */
  readonly fallbacks?: readonly string[];
  /**
   * Tools, and names of built-in ones; `workspace` stands for all read-only ones, `mcp:github` for those of the MCP server
   * `github`, `mcp` for those of all servers. Absent: `['workspace', 'mcp']`.
   */
  readonly tools?: readonly (Tool | BuiltinTool | McpChoice)[];
  /** Names of agents that it may give tasks to, with the tool `delegate`; each works in a session of its own. */
  readonly delegates?: readonly string[];
  /** Batches of tool calls for one user message. Default 10. */
  readonly maxToolTurns?: number;
  /** Default 8. */
  readonly maxParallelTools?: number;
  /** Seconds; a tool's own wins. Default 60. */
  readonly toolTimeoutSecs?: number;
  /** Tokens of one response. */
  readonly maxOutputTokens?: number;
  readonly temperature?: number;
  readonly thinking?: MessageRequest['thinking'];
  /** The final answer must be JSON that fits. */
  readonly outputSchema?: z.ZodType;
  /** What happens when a budget is used up: end the run, or ask a person to extend it. Default `stop`. */
  readonly onBudget?: 'stop' | 'ask';
  readonly budgets?: { readonly run?: Budget; readonly session?: Budget };
  /** Keys that stand here win over the config's own `context`. */
  readonly context?: ContextSettings;
}

/** Names of tools that come with Holdfast. */
export const BUILTIN_TOOLS = [
  'workspace',
  'list_dir',
  'find_files',
  'search_text',
  'read_file',
  'write_file',
  'edit_file',
  'run_command',
  'search_transcript',
  'read_transcript',
  'remember',
  'recall',
] as const;
export type BuiltinTool = (typeof BUILTIN_TOOLS)[number];

/** All MCP servers of the config, or one by its name. */
export type McpChoice = 'mcp' | `mcp:${string}`;

/** A value as it is, or out of an environment variable: secrets stand nowhere else. */
type Value = string | { readonly env: string };

/** An MCP server: a program (`command`), or an address that speaks streamable HTTP (`url`). */
export interface McpServerConfig {
  /** The program; found on the `PATH`, run without a shell. */
  readonly command?: string;
  readonly args?: readonly string[];
  /** Variables beside the harmless ones (`PATH`, `HOME`, proxies, locale): no other of the worker's reaches the program. */
  readonly env?: Readonly<Record<string, Value>>;
  /** Folder it runs in, relative to the config file. Default: its folder. */
  readonly cwd?: string;
  readonly url?: string;
  /** Sent with each request. */
  readonly headers?: Readonly<Record<string, Value>>;
  /** Seconds for one call. Default: the agent's `toolTimeoutSecs`. */
  readonly timeoutSecs?: number;
}

/** A provider beside the known ones, or changes to a known one. Keys are never written here. */
export interface ProviderSettings {
  /** Needed for a provider that is not known by its id. */
  readonly api?: ConfigurableApi;
  readonly dialect?: DialectName;
  readonly baseURL?: string;
  /** Name of the environment variable that holds the key. */
  readonly apiKeyEnv?: string;
  /** Sent with each request; `{ env: 'NAME' }` takes the value from the environment. */
  readonly headers?: Readonly<Record<string, string | { readonly env: string }>>;
  /** The provider's own limits, kept across all workers of a store. */
  readonly requestsPerMinute?: number;
  readonly tokensPerMinute?: number;
  /**
   * How reasoning goes back to an `openai-responses` server. `encrypted`: as OpenAI's items with encrypted content. `text`: as
   * its text, for servers whose models read their own reasoning (llama.cpp, vLLM, DeepSeek). Default `encrypted`.
   */
  readonly reasoning?: 'encrypted' | 'text';
  /**
   * Thinking without a signature in requests to an `anthropic` server. `drop`: Anthropic itself refuses it. `replay`: for
   * compatible servers that sign nothing and want it back. Default `drop`.
   */
  readonly unsignedThinking?: 'drop' | 'replay';
}

/** What is known of a model, where the catalog is wrong or silent. */
interface ModelSettings {
  /** Context window, tokens. */
  readonly window?: number;
  /** Most tokens of one response. */
  readonly outputLimit?: number;
  /** US dollars per million tokens. */
  readonly prices?: {
    readonly input: number;
    readonly output: number;
    readonly cacheRead?: number;
    readonly cacheWrite?: number;
  };
  /** What it can take and do; media that it cannot take go to it as a note. */
  readonly abilities?: Abilities;
}

/** When and how far a long session is compacted. */
export interface CompactionSettings {
  /** Whether it happens at all, asked for or not. Default true. */
  readonly enabled?: boolean;
  /** Whether it also happens by itself. Default true. */
  readonly autoEnabled?: boolean;
  /** Share of the window that triggers it before a run. Default 0.85. */
  readonly triggerRatio?: number;
  /** Share of the window that triggers it within a run. Default 0.95. */
  readonly hardRatio?: number;
  /** Tokens kept free beside the output. Default 2,000. */
  readonly reserveTokens?: number;
  /** Tokens of recent items that stay as they are. Default 12,000. */
  readonly keepRecentTokens?: number;
  /** Messages of people, with all that answers them, that a request may hold. Default: no limit. */
  readonly maxHistoryTurns?: number;
  /** Messages that microcompact leaves alone. Default 10. */
  readonly keepRecentMessages?: number;
  /** Whether old thinking is pruned too. Default false. */
  readonly compactThinking?: boolean;
  /** Bytes that the media of a request may take as base64; the oldest become notes beyond it. Default 18,000,000. */
  readonly maxMediaBytes?: number;
  /** `provider/model` that writes summaries; absent: the agent's own. */
  readonly model?: string;
}

/** What becomes of a session that outgrows the window of its model. */
interface ContextSettings {
  readonly compaction?: CompactionSettings;
}

/** What `holdfast.config.ts` exports. Everything is optional. */
export interface HoldfastConfig {
  readonly agents?: readonly AgentSettings[];
  /** `provider/model` for agents that name none. `HOLDFAST_MODEL` wins. */
  readonly model?: string;
  readonly providers?: Readonly<Record<string, ProviderSettings>>;
  /** By `provider/model`. */
  readonly models?: Readonly<Record<string, ModelSettings>>;
  readonly context?: ContextSettings;
  /** Path of a SQLite file, or `postgres://…`. Default `.holdfast/holdfast.db`; `HOLDFAST_STORE` wins. */
  readonly store?: string;
  /** The folder that tools work on, relative to the config file. Default: its folder. */
  readonly workspace?: string;
  readonly temporal?: { readonly taskQueue?: string; readonly toolsTaskQueue?: string };
  /** By name: a letter, then letters, digits and dashes. Tools are called `<name>__<tool>`. */
  readonly mcpServers?: Readonly<Record<string, McpServerConfig>>;
  /**
   * Which calls may run, must ask a person, or may not run: the last rule that fits decides. Where none fits, read-only
   * tools run and all others ask, but those that change nothing but Holdfast's own store.
   */
  readonly approvals?: readonly PolicyRule[];
  /** Seconds that a call waits for an approval before it is given up. Default 86,400 (a day). */
  readonly approvalDeadlineSecs?: number;
  readonly hooks?: readonly Hook[];
  /** Lowest level that is logged. Default `info`. */
  readonly logLevel?: 'debug' | 'info' | 'warn' | 'error';
}
