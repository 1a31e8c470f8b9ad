import type { FileEffect } from '../compaction/ledger.ts';
import type { CompactionJob } from '../compaction/service.ts';
import type { CompactSessionInput } from '../contract/compact-session.ts';
import { type Target, targetOf } from '../providers/request-target.ts';
import type { LoadedRunConfig } from '../store/run-config.ts';
import { textTokens } from '../transcript/text-tokens.ts';
import { toolsTokens } from '../transcript/tokens.ts';
import { type AgentSpec, compactionOf } from './agents.ts';
import type { SharedDeps } from './model-call.ts';
import { agentOf } from './run-agent.ts';
import { requestBudget, viewBudget } from './window.ts';
import { currentWriter, runRef } from './writer.ts';

/** A compaction with what the run brings to it. */
export interface CompactionContext {
  readonly job: CompactionJob;
  readonly run: LoadedRunConfig;
  readonly agent: AgentSpec | undefined;
  /** The model that the next request goes to. */
  readonly target: Target;
  /** What the manual requests want the summary to keep above all. */
  readonly instructions: string | undefined;
  readonly fileEffects: (tool: string) => FileEffect | undefined;
}

export async function compactionContext(deps: SharedDeps, input: CompactSessionInput): Promise<CompactionContext> {
  const { compaction, requests, step, model } = input;
  const { sessionId, runId } = input.ref;
  const run = await deps.runConfigs(runId);
  const agent = agentOf(deps, run);
  const config = compactionOf(deps, agent);
  const target = targetOf(deps.providers.resolve(model), deps.catalog);
  const window = requestBudget(deps, run.config, model, config, compaction.window);
  const job: CompactionJob = {
    writer: childWriter(input),
    ref: runRef(input.ref, { answered: step - 1 }),
    step,
    compactionId: compaction.compactionId,
    trigger: compaction.trigger,
    reason: compaction.reason,
    requests: requests.flatMap(({ requestId }) => requestId ?? []),
    config,
    window,
    viewBudget: viewBudget(run.config.window),
    ...(compaction.maxMediaBytes === undefined ? {} : { maxMediaBytes: compaction.maxMediaBytes }),
    systemTokens: textTokens(run.prompt),
    toolsTokens: toolsTokens(run.tools),
    semanticOf: (tool) => agent?.tools.get(tool)?.resultSemantic ?? 'mixed',
    tokens: async (view) => {
      const { tokens } = await deps.estimates.estimate({ sessionId, runId, step, run, target, view });
      // The provider knows better: what it refused is over its window, whatever we had counted.
      if (compaction.trigger !== 'overflow_retry' || compaction.maxMediaBytes !== undefined) return tokens;
      return Math.max(tokens, compaction.tokens ?? 0, window.window + 1);
    },
  };
  const wishes = requests.flatMap((request) => request.instructions?.trim() || []);
  return {
    job,
    run,
    agent,
    target,
    instructions: wishes.length === 0 ? undefined : wishes.join('\n'),
    fileEffects: (tool) => fileEffect(agent, tool),
  };
}

/** A child writes under its parent's claim; its activities' ids must not be taken for the parent's. */
function childWriter({ ref, owner, compaction }: CompactSessionInput) {
  const writer = currentWriter(ref.sessionId);
  return { ...writer, owner, activityId: `${compaction.compactionId}/${writer.activityId}` };
}

function fileEffect(agent: AgentSpec | undefined, name: string): FileEffect | undefined {
  const tool = agent?.tools.get(name);
  if (tool === undefined) return undefined;
  return tool.annotations.readOnlyHint === true ? 'reads' : 'changes';
}
