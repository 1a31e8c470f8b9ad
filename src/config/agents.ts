import path from 'node:path';
import { HoldfastError } from '../contract/errors.ts';
import { DEFAULT_AGENT } from '../contract/identity.ts';
import { redact } from '../providers/redact.ts';
import type { Store } from '../store/store.ts';
import { createDelegate } from '../tools/delegate.ts';
import { createReadTranscript } from '../tools/history/read-transcript.ts';
import { createSearchTranscript } from '../tools/history/search-transcript.ts';
import type { McpServers } from '../tools/mcp/mcp-servers.ts';
import type { ToolSource } from '../tools/mcp/tool-source.ts';
import { createRecall } from '../tools/memory/recall.ts';
import { createRemember } from '../tools/memory/remember.ts';
import { createReadToolOutput } from '../tools/read-tool-output.ts';
import { createToolRegistry, type ToolRegistry, type ToolRegistryOptions } from '../tools/registry.ts';
import type { Tool } from '../tools/tool.ts';
import { createReadMarks } from '../tools/workspace/read-marks.ts';
import { createWorkspaceTools } from '../tools/workspace/workspace-tools.ts';
import { createWorkspaceEffectTools } from '../tools/workspace-effects/effect-tools.ts';
import { secretValues } from './endpoints.ts';
import type { Environment, LoadedConfig } from './load-config.ts';
import type { AgentSettings, BuiltinTool, McpChoice } from './settings.ts';

/** An agent with all defaults filled in and its tools at hand. */
export interface ConfiguredAgent extends Omit<AgentSettings, 'tools' | 'delegates' | 'instructions' | LimitKey> {
  readonly instructions: string;
  readonly tools: ToolRegistry;
  /** Tools beside these, of the MCP servers that the agent chose. */
  readonly toolSource?: ToolSource;
  readonly maxToolTurns: number;
  readonly maxParallelTools: number;
  readonly toolTimeoutSecs: number;
  readonly onBudget: 'stop' | 'ask';
}
type LimitKey = 'maxToolTurns' | 'maxParallelTools' | 'toolTimeoutSecs' | 'onBudget';

export interface AgentDeps {
  /** Transcripts, whole outputs and facts, for the tools that give an agent its own past. */
  readonly store: AgentStore;
  /** `false` refuses tools that are not read-only, but those that change nothing except the store. */
  readonly allowEffects: boolean;
  /** The worker's environment: commands get the part of it that holds no secrets. Absent: they get none of it. */
  readonly env?: Environment;
  /** Absent: agents get no tools of servers. */
  readonly mcp?: McpServers;
}

export type AgentStore = Pick<
  Store,
  'toolOutput' | 'searchTranscript' | 'entries' | 'entriesAt' | 'facts' | 'putFacts'
>;

const DEFAULT_INSTRUCTIONS = `You are Holdfast, an agent that works on the folder of its user with the tools it is given.
Look things up with the tools instead of guessing, several at once where they do not depend on each other.
When you have the answer, give it plainly, and name the files and lines it rests on as path:line.`;

/**
 * The agents of a config by name. There is always one called `default`: the config's own, else its first, else one with
 * the read-only workspace tools.
 *
 * @throws HoldfastError `ConfigInvalid` for tools that cannot be registered together.
 */
export function configuredAgents(loaded: LoadedConfig, deps: AgentDeps): ReadonlyMap<string, ConfiguredAgent> {
  const settings = loaded.config.agents?.length ? loaded.config.agents : [{ name: DEFAULT_AGENT }];
  const past = pastTools(deps.store);
  const builtins = builtinTools(loaded, deps, past);
  const agents = new Map(
    settings.map((agent) => [
      agent.name,
      configured(
        agent,
        delegateTools(agent, settings),
        builtins,
        past,
        deps,
        Object.keys(loaded.config.mcpServers ?? {}),
      ),
    ]),
  );
  const [first] = agents.values();
  if (!agents.has(DEFAULT_AGENT) && first !== undefined) agents.set(DEFAULT_AGENT, first);
  return agents;
}

type Builtins = ReadonlyMap<BuiltinTool, readonly Tool[]>;

/** What an agent has of its own past: outputs and items out of sight, and memories. They change nothing but the store. */
function pastTools(store: AgentStore): readonly Tool[] {
  return [
    createReadToolOutput((...range) => store.toolOutput(...range)),
    createSearchTranscript(store),
    createReadTranscript(store),
    createRemember(store),
    createRecall(store),
  ];
}

function builtinTools(
  { folder, workspace, config }: LoadedConfig,
  { allowEffects, env = {} }: AgentDeps,
  past: readonly Tool[],
): Builtins {
  // Without tools that edit nobody asks what was seen.
  const marks = allowEffects ? createReadMarks(path.join(folder, '.holdfast', 'reads')) : undefined;
  const readOnly = createWorkspaceTools(workspace, marks === undefined ? {} : { marks });
  const secrets = secretValues(config, env);
  const effects =
    marks === undefined
      ? []
      : createWorkspaceEffectTools(workspace, { marks, env, redact: (text) => redact(text, secrets) });
  return new Map<BuiltinTool, readonly Tool[]>([
    ['workspace', readOnly],
    ...[...readOnly, ...effects, ...past].map((tool): [BuiltinTool, readonly Tool[]] => [
      tool.name as BuiltinTool,
      [tool],
    ]),
  ]);
}

/** The tool `delegate`, for an agent that may give tasks to others. */
function delegateTools({ delegates = [] }: AgentSettings, all: readonly AgentSettings[]): readonly Tool[] {
  const [first, ...others] = all
    .filter(({ name }) => delegates.includes(name))
    .map(({ name, description }) => ({ name, ...(description === undefined ? {} : { description }) }));
  return first === undefined ? [] : [createDelegate([first, ...others])];
}

function configured(
  agent: AgentSettings,
  delegating: readonly Tool[],
  builtins: Builtins,
  past: readonly Tool[],
  { allowEffects, mcp }: AgentDeps,
  servers: readonly string[],
): ConfiguredAgent {
  const { tools: wanted = DEFAULT_TOOLS, delegates: _, ...rest } = agent;
  const chosen = wanted.flatMap((one) => {
    if (typeof one !== 'string') return [one];
    return isMcpChoice(one) ? [] : builtin(one, agent.name, builtins);
  });
  const chosenServers = servers.filter((name) => wanted.includes('mcp') || wanted.includes(`mcp:${name}`));
  // Outputs are cut and items summarised whatever the tools; an agent without any is left without, one of its own wins.
  const own = new Set(chosen.map(({ name }) => name));
  const further = chosen.length + chosenServers.length === 0 ? [] : past.filter(({ name }) => !own.has(name));
  const tools = [...new Set(chosen), ...delegating, ...further];
  return {
    ...rest,
    instructions: agent.instructions ?? DEFAULT_INSTRUCTIONS,
    tools: registry(tools, agent.name, { allowEffects, ownTools: past }),
    ...(mcp === undefined || chosenServers.length === 0 ? {} : { toolSource: mcp.source(chosenServers) }),
    maxToolTurns: agent.maxToolTurns ?? 10,
    maxParallelTools: agent.maxParallelTools ?? 8,
    toolTimeoutSecs: agent.toolTimeoutSecs ?? 60,
    onBudget: agent.onBudget ?? 'stop',
  };
}

const DEFAULT_TOOLS: NonNullable<AgentSettings['tools']> = ['workspace', 'mcp'];

function isMcpChoice(name: string): name is McpChoice {
  return name === 'mcp' || name.startsWith('mcp:');
}

function builtin(name: BuiltinTool, agentName: string, builtins: Builtins): readonly Tool[] {
  const tools = builtins.get(name);
  if (tools !== undefined) return tools;
  throw new HoldfastError(
    'ConfigInvalid',
    `agent ${JSON.stringify(agentName)}: the tool ${name} changes things, which is not allowed here`,
  );
}

function registry(tools: readonly Tool[], agentName: string, options: ToolRegistryOptions): ToolRegistry {
  try {
    return createToolRegistry(tools, options);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new HoldfastError('ConfigInvalid', `agent ${JSON.stringify(agentName)}: ${error.message}`, { cause: error });
  }
}
