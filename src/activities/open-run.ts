import type { Activities, OpenRunInput, OpenRunOutput } from '../contract/activities.ts';
import { HoldfastError } from '../contract/errors.ts';
import { DEFAULT_AGENT } from '../contract/identity.ts';
import type { SendMessage } from '../contract/messages.ts';
import { composePrompt } from '../prompt/compose-prompt.ts';
import { workspaceReader } from '../prompt/workspace-reader.ts';
import { ModelResolutionError } from '../providers/registry.ts';
import { freezeRunConfig, type RunConfig } from '../store/run-config.ts';
import { toJson } from '../store/stored-json.ts';
import { windowBudget } from '../transcript/budget.ts';
import type { JsonObject } from '../transcript/json.ts';
import type { ActivityDeps, AgentSpec } from './agents.ts';
import { budgetsOfNewRun, unpriced } from './budgets.ts';
import { terminalEnding } from './close-run.ts';
import { mintCompaction } from './compaction-check.ts';
import { translated } from './failure.ts';
import { acceptedMessage } from './message-content.ts';
import { awayNote, toolsOfNewRun } from './run-agent.ts';
import { storedMemories } from './stored-memories.ts';
import { currentWriter } from './writer.ts';

export function createOpenRun(deps: ActivityDeps): Activities['openRun'] {
  return (input) => translated(() => openRun(deps, input));
}

async function openRun(deps: ActivityDeps, input: OpenRunInput): Promise<OpenRunOutput> {
  const { store } = deps;
  const chosen = choose(deps, input.message ?? (await lastChoice(deps, input.sessionId)));
  const message = input.message === undefined ? undefined : await acceptedMessage(store, input.message);
  const queued = await Promise.all(input.queued.map((waiting) => acceptedMessage(store, waiting)));
  const budgets = chosen.agent === undefined ? {} : await budgetsOfNewRun(deps, chosen.agent, input.root);
  const config = chosen.agent === undefined ? {} : await frozen(deps, input, chosen.agent, chosen.model, budgets);
  const opened = await store.openRun(currentWriter(input.sessionId), {
    ...(input.storeId === undefined ? {} : { storeId: input.storeId }),
    runId: input.runId,
    ...(message === undefined ? {} : { message }),
    agent: chosen.agentName,
    model: chosen.model,
    config,
    queued,
    ...(input.reset === undefined ? {} : { reset: input.reset }),
  });
  const { storeId, head } = opened;
  if (opened.status === 'ended') return { outcome: 'ended', storeId, head, ending: terminalEnding(opened.outcome) };
  const common = { storeId, head, agent: chosen.agentName, model: chosen.model };
  if (chosen.agent === undefined)
    return { outcome: 'refused', ...common, error: chosen.error, message: chosen.message };
  const unlimited = unpriced(deps, chosen.agent, chosen.model, budgets);
  if (unlimited !== undefined) return { outcome: 'refused', ...common, error: 'ConfigInvalid', message: unlimited };
  deps.log.info({
    event: 'run.opened',
    session_id: input.sessionId,
    run_id: input.runId,
    agent: chosen.agentName,
    model: chosen.model,
  });
  const { maxToolTurns, maxParallelTools, onBudget } = chosen.agent;
  return {
    outcome: 'open',
    ...common,
    limits: { maxToolTurns, maxParallelTools, ...(onBudget === 'ask' ? { onBudget } : {}) },
    ...(message === undefined ? { compaction: mintCompaction({ trigger: 'manual', reason: 'asked for' }) } : {}),
  };
}

/** What a run that only compacts goes by: agent and model of the session's last run here; an imported one has none. */
async function lastChoice({ store, agents }: ActivityDeps, sessionId: string): Promise<Choice> {
  const runs = await store.runs(sessionId);
  if (runs.length === 0) throw new HoldfastError('NotFound', `there is no session ${sessionId} to compact`);
  const last = runs.findLast(({ agent }) => agents.has(agent));
  return last === undefined ? {} : { agent: last.agent, model: last.model };
}

type Choice = Pick<SendMessage, 'agent' | 'model'>;

type Chosen =
  | { readonly agent: AgentSpec; readonly agentName: string; readonly model: string }
  | {
      readonly agent: undefined;
      readonly agentName: string;
      readonly model: string;
      readonly error: 'UnknownAgent' | 'UnknownModel';
      readonly message: string;
    };

/** Agent and model of the run, or why there is none. The message is kept either way: it ends in `run_failed`. */
function choose(deps: ActivityDeps, message: Choice): Chosen {
  const agentName = message.agent ?? DEFAULT_AGENT;
  const agent = deps.agents.get(agentName);
  const wanted = message.model ?? agent?.model ?? deps.providers.defaultModel ?? '';
  if (agent === undefined) {
    const known = [...deps.agents.keys()].join(', ');
    return {
      agent,
      agentName,
      model: wanted,
      error: 'UnknownAgent',
      message: `there is no agent "${agentName}" (there are: ${known})`,
    };
  }
  try {
    return { agent, agentName, model: deps.providers.resolve(wanted === '' ? undefined : wanted).name };
  } catch (error) {
    if (!(error instanceof ModelResolutionError)) throw error;
    return { agent: undefined, agentName, model: wanted, error: 'UnknownModel', message: error.message };
  }
}

/** Window of models of which nothing is known, in tokens; an overflow error will say better. */
const DEFAULT_WINDOW = 128_000;

/** Stored memories take at most this share of a small window. */
const MEMORY_SHARE = 1 / 16;
const MEMORY_TOKENS = 1000;

async function frozen(
  deps: ActivityDeps,
  { sessionId, root }: OpenRunInput,
  agent: AgentSpec,
  model: string,
  budgets: Pick<RunConfig, 'budgets'>,
): Promise<JsonObject> {
  const { maxOutputTokens, ...facts } = deps.catalog.facts(model);
  const windowTokens = facts.windowTokens ?? (await deps.serverWindow?.(model));
  const { specs, away } = await toolsOfNewRun(agent);
  const prompt = await composePrompt({
    agent,
    environment: awayNote(away),
    memories: await storedMemories(deps.store, sessionId),
    storedMemoryTokens: Math.min(MEMORY_TOKENS, Math.floor((windowTokens ?? DEFAULT_WINDOW) * MEMORY_SHARE)),
    readFile: workspaceReader(deps.workspace),
  });
  const { outputReserve } = windowBudget({
    window: windowTokens ?? DEFAULT_WINDOW,
    ...(maxOutputTokens === undefined ? {} : { outputLimit: maxOutputTokens }),
    ...(agent.maxOutputTokens === undefined ? {} : { maxOutputTokens: agent.maxOutputTokens }),
  });
  const config = await freezeRunConfig(
    deps.store,
    {
      agent: agent.name,
      model,
      fallbacks: agent.fallbacks ?? [],
      maxToolTurns: agent.maxToolTurns,
      maxParallelTools: agent.maxParallelTools,
      toolTimeoutSecs: agent.toolTimeoutSecs,
      window: windowTokens ?? DEFAULT_WINDOW,
      maxOutputTokens: agent.maxOutputTokens ?? (windowTokens === undefined ? null : outputReserve),
      temperature: agent.temperature ?? null,
      thinking: agent.thinking ?? null,
      outputSchema: agent.output === undefined ? null : { name: agent.output.name, schema: agent.output.schema },
      ...(root === undefined ? {} : { root }),
      ...budgets,
    },
    prompt.text,
    specs,
  );
  return toJson(config);
}
