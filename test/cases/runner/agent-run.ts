import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import type { AgentSpec } from '../../../src/activities/agents.ts';
import { createActivities } from '../../../src/activities/create-activities.ts';
import type { Provider } from '../../../src/providers/provider.ts';
import { createProviderRegistry } from '../../../src/providers/registry.ts';
import { openStore } from '../../../src/store/open-store.ts';
import { defineJsonTool } from '../../../src/tools/define-tool.ts';
import { createPolicy } from '../../../src/tools/policy.ts';
import { createToolRegistry } from '../../../src/tools/registry.ts';
import type { Tool } from '../../../src/tools/tool.ts';
import type { AgentItem } from '../../../src/transcript/items.ts';
import type { JsonObject } from '../../../src/transcript/json.ts';
import { messageTokens, toolsTokens } from '../../../src/transcript/tokens.ts';
import type { Obj } from './case-file.ts';
import { modelOf } from './case-input.ts';
import { type DrivenRun, driveRun } from './drive-run.ts';
import { openLab } from './lab.ts';
import { brokenLaws } from './laws.ts';
import { bodyOf, builtinTools, requestOf, toolSpecs } from './next-request.ts';
import type { Observation, SeenResult } from './observation.ts';
import { watchRejections } from './rejections.ts';
import type { Answer } from './replay-server.ts';
import type { Target } from './target.ts';

/** Calls that reached a tool's function, in order. */
export type Executed = { readonly name: string; readonly args: unknown }[];

/** Runs the agent against recorded answers: real client, real activities, real store. */
export async function agentRun(input: Obj, target: Target, answers: readonly Answer[]): Promise<Observation> {
  const executed: Executed = [];
  const rejections = watchRejections();
  const lab = await openLab({
    model: modelOf(input),
    settings: input,
    hangs: answers.some((answer) => answer.end === 'hang'),
    builtinTools: builtinTools(input.tools, target) as JsonObject[],
    repeat: input.repeat_forever === true,
  });
  try {
    lab.give(answers);
    const tools = toolSpecs(input.tools).map(({ name, description, inputSchema }) =>
      recording(
        defineJsonTool({ name, description, inputSchema, annotations: { readOnlyHint: true }, execute: () => 'ok' }),
        executed,
      ),
    );
    const run = await withActivities({ provider: lab.provider(target), model: lab.model(target), tools }, (drive) =>
      drive('Hello.'),
    );
    const requests = lab.requests(target);
    const next = bodyOf(lab, target, requestOf(run.items, { model: lab.model(target), tools: toolSpecs(input.tools) }));
    const broken = [...requests, next].flatMap((request) => brokenLaws(target, request));
    return { ...observed(run, executed), requests, broken, unhandledRejections: await rejections.stop() };
  } finally {
    await rejections.stop();
    await lab.close();
  }
}

export interface AgentSetup {
  readonly provider: Provider;
  readonly model: string;
  readonly tools: readonly Tool[];
  readonly toolTimeoutSecs?: number;
  readonly abort?: AbortSignal;
  readonly sequential?: boolean;
}

/** Gives `work` a run driver over the real activities, on a store of its own. */
export async function withActivities<T>(
  setup: AgentSetup,
  work: (drive: (prompt: string) => Promise<DrivenRun>) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-cases-'));
  const store = await openStore(join(folder, 'store.db'));
  try {
    const model = `${setup.provider.id}/${setup.model}`;
    const { abort, sequential = false } = setup;
    const cancelling = abort === undefined ? { sequential } : { sequential, abort };
    const agent: AgentSpec = {
      name: 'default',
      instructions: 'You are a test agent.',
      model,
      tools: createToolRegistry(setup.tools),
      maxToolTurns: 10,
      maxParallelTools: 8,
      toolTimeoutSecs: setup.toolTimeoutSecs ?? 60,
    };
    const activities = createActivities({
      store,
      agents: new Map([[agent.name, agent]]),
      providers: createProviderRegistry({ providers: [setup.provider], default: model }),
      log: pino({ level: 'silent' }),
      workspace: folder,
      // Nobody is there to ask: what a case's model calls is run.
      policy: createPolicy([{ decision: 'allow' }]),
      catalog: { facts: () => ({ abilities: {} }), costUsd: () => null },
    });
    return await work((prompt) => driveRun({ activities, store, sessionId: 'case', ...cancelling }, prompt));
  } finally {
    await store.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** A tool that notes each call that reaches its function. */
export function recording(tool: Tool, executed: Executed): Tool {
  return {
    ...tool,
    execute: (value, context) => {
      executed.push({ name: tool.name, args: value });
      return tool.execute(value, context);
    },
  };
}

/** What a driven run shows to the checks. */
export function observed(run: DrivenRun, executed: Executed): Observation {
  const last = run.modelAnswers.at(-1);
  return {
    executed,
    results: resultsOf(run.items),
    ended: run.ended,
    ...(run.finalText === undefined ? {} : { finalText: run.finalText }),
    ...(last === undefined ? {} : { rawFinish: last.raw }),
    largestStepOutput: run.largestOutput,
    nextRequestTokens: tokensOf(run.items),
  };
}

function resultsOf(items: readonly AgentItem[]): SeenResult[] {
  const names = new Map(
    items
      .flatMap((item) => (item.kind === 'tool_call_batch' ? item.calls : []))
      .map((call) => [call.callId, call.name]),
  );
  return items
    .flatMap((item) => (item.kind === 'tool_result_batch' ? item.results : []))
    .map(({ callId, status, content }) => ({
      callId,
      name: names.get(callId) ?? '',
      status,
      text: content.map((block) => (block.type === 'text' ? block.text : `[${block.type}]`)).join('\n'),
    }));
}

/** Tokens of a request of these items, by the product's estimator. */
function tokensOf(items: readonly AgentItem[]): number {
  const { messages, tools } = requestOf(items, { model: 'm' });
  return messages.reduce((sum, message) => sum + messageTokens(message), toolsTokens(tools));
}
