import type { LoadedRunConfig } from '../store/run-config.ts';
import type { AwayServer } from '../tools/mcp/tool-source.ts';
import { createToolRegistry, type ToolRegistry } from '../tools/registry.ts';
import type { ToolSpec } from '../transcript/message.ts';
import { wireName } from '../transcript/wire-name.ts';
import type { ActivityDeps, AgentSpec } from './agents.ts';

/** The tools that a run is to have, frozen when it opens. */
export interface RunTools {
  readonly specs: readonly ToolSpec[];
  readonly away: readonly AwayServer[];
}

/** The agent's own tools and what its servers offer now; an own tool wins over a server's of the same name. */
export async function toolsOfNewRun({ tools, toolSource }: AgentSpec): Promise<RunTools> {
  if (toolSource === undefined) return { specs: tools.specs, away: [] };
  const { specs, away } = await toolSource.offer();
  return { specs: [...tools.specs, ...specs.filter((spec) => isFree(tools, spec))], away };
}

/** One line for the system prompt about servers whose tools the run has to do without. */
export function awayNote(away: readonly AwayServer[]): Readonly<Record<string, string>> {
  if (away.length === 0) return {};
  const servers = away.map(({ server, reason }) => `${server} (${reason})`).join(', ');
  return { 'Tool servers that cannot be reached, so that their tools are missing': servers };
}

const agents = new WeakMap<LoadedRunConfig, { readonly of: AgentSpec; readonly agent: AgentSpec }>();

/** The agent of an open run, with the tools that were frozen for it: what servers have come to offer since does not count. */
export function agentOf(deps: Pick<ActivityDeps, 'agents'>, run: LoadedRunConfig): AgentSpec | undefined {
  const agent = deps.agents.get(run.config.agent);
  if (agent?.toolSource === undefined) return agent;
  const known = agents.get(run);
  if (known?.of === agent) return known.agent;
  const made = { ...agent, tools: frozenTools(agent, run.tools) };
  agents.set(run, { of: agent, agent: made });
  return made;
}

function frozenTools({ tools, toolSource }: AgentSpec, specs: readonly ToolSpec[]): ToolRegistry {
  const remote = specs.filter((spec) => isFree(tools, spec)).flatMap((spec) => toolSource?.tool(spec) ?? []);
  return createToolRegistry([...tools.tools, ...remote], { ownTools: tools.tools.filter(tools.isOwn) });
}

function isFree(tools: ToolRegistry, { name }: ToolSpec): boolean {
  return tools.get(name) === undefined && tools.get(wireName(name)) === undefined;
}
