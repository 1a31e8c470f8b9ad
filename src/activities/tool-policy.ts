import type { PlannedCall } from '../contract/activities.ts';
import { argumentsHash } from '../tools/arguments-hash.ts';
import { callPaths } from '../tools/call-paths.ts';
import { createPolicy, type PolicyAnswer } from '../tools/policy.ts';
import type { Tool } from '../tools/tool.ts';
import type { AgentItem, ToolCall } from '../transcript/items.ts';
import type { ActivityDeps, AgentSpec } from './agents.ts';

const DEFAULT_POLICY = createPolicy();
const DAY_SECS = 86_400;

/** What the policy says of a call, before anybody was asked. */
export async function ruledOn(
  deps: Pick<ActivityDeps, 'policy' | 'workspace'>,
  agent: AgentSpec,
  tool: Tool,
  call: ToolCall,
): Promise<PolicyAnswer> {
  const policy = deps.policy ?? DEFAULT_POLICY;
  const paths = policy.needsPaths(tool) ? await callPaths(call.arguments, deps.workspace) : [];
  const answer = policy.decide({ tool, own: agent.tools.isOwn(tool), arguments: call.arguments, paths });
  // Nobody is asked about a call that will not run: its arguments do not fit, and the model is told so.
  return answer.decision === 'ask' && !fits(tool, call) ? { decision: 'allow' } : answer;
}

function fits(tool: Tool, call: ToolCall): boolean {
  try {
    return tool.parse(call.arguments).ok;
  } catch {
    return false;
  }
}

export type Approvals = ReadonlyMap<string, NonNullable<PlannedCall['approval']>>;

/** The calls of a response that must ask a person first: those that the policy lets ask, but for tools with a grant. */
export async function neededApprovals(
  deps: ActivityDeps,
  sessionId: string,
  agent: AgentSpec | undefined,
  items: readonly AgentItem[],
): Promise<Approvals> {
  const batch = items.at(-1);
  const needed = new Map<string, NonNullable<PlannedCall['approval']>>();
  if (batch?.kind !== 'tool_call_batch' || agent === undefined) return needed;
  const deadline = new Date(Date.now() + 1000 * (deps.approvalDeadlineSecs ?? DAY_SECS)).toISOString();
  let grants: readonly string[] | undefined;
  for (const call of batch.calls) {
    const tool = agent.tools.get(call.name);
    if (tool === undefined || call.argumentsError !== undefined) continue;
    if ((await ruledOn(deps, agent, tool, call)).decision !== 'ask') continue;
    grants ??= await deps.store.grants(sessionId);
    if (grants.includes(tool.name)) continue;
    const { name } = tool;
    needed.set(call.callId, { argumentsHash: argumentsHash(call.name, call.arguments), deadline, name });
  }
  return needed;
}
