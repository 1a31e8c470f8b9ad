import { defineJsonTool } from '../../../src/tools/define-tool.ts';
import type { Tool, ToolContext } from '../../../src/tools/tool.ts';
import type { JsonObject } from '../../../src/transcript/json.ts';
import { agentRun, type Executed, observed, recording, withActivities } from './agent-run.ts';
import { type Case, isObj, type Obj, objs, str } from './case-file.ts';
import { recorded } from './case-input.ts';
import type { DrivenRun } from './drive-run.ts';
import { openLab } from './lab.ts';
import { brokenLaws } from './laws.ts';
import { bodyOf } from './next-request.ts';
import type { Observation } from './observation.ts';
import { watchRejections } from './rejections.ts';
import { type ScriptedAnswer, scriptedModel } from './scripted-model.ts';
import { parseTarget, targetOfApi } from './target.ts';

/** Formats that the requests of a tool case must fit. */
const TARGETS = ['openai-chat', 'anthropic', 'openai-responses'];

/** Runs a batch of calls through the real activities with a scripted model, or a recorded answer where the case has one. */
export async function runToolCase(one: Case): Promise<Observation> {
  const { input } = one;
  if (isObj(input.http) || Array.isArray(input.exchange)) {
    return agentRun(input, targetOfApi(str(input.api, 'chat'), one.provider), recorded(input));
  }
  return (await toolRun(input)).seen;
}

/** The run of a tool case, with everything that it left. */
export interface ToolRun {
  readonly seen: Observation;
  readonly run: DrivenRun;
  readonly executed: Executed;
}

export async function toolRun(input: Obj): Promise<ToolRun> {
  const executed: Executed = [];
  const limits = isObj(input.limits) ? input.limits : {};
  const model = scriptedModel(script(input));
  const rejections = watchRejections();
  try {
    const timeout =
      typeof limits.tool_timeout_ms === 'number' ? { toolTimeoutSecs: limits.tool_timeout_ms / 1000 } : {};
    const abort = new AbortController();
    const tools = [...toolsOf(input), ...abortedTool(input, abort)].map((tool) => recording(tool, executed));
    const run = await withActivities(
      {
        provider: model.provider,
        model: 'scripted',
        tools,
        ...timeout,
        sequential: input.sequential === true,
        abort: abort.signal,
      },
      (drive) => drive('Go.'),
    );
    const { requests, broken } = await wireOf(model.requests);
    const seen: Observation = {
      ...observed(run, executed),
      requests,
      broken,
      unhandledRejections: await rejections.stop(),
      prototypeUntouched: Object.keys(Object.prototype).length === 0 && !('admin' in {}),
      ...(typeof limits.window === 'number' ? { window: limits.window } : {}),
    };
    return { seen, run, executed };
  } finally {
    await rejections.stop();
  }
}

/** The model's requests as each wire would carry them; the first format's bodies are the ones that checks look at. */
async function wireOf(
  requests: ReturnType<typeof scriptedModel>['requests'],
): Promise<Required<Pick<Observation, 'requests' | 'broken'>>> {
  const lab = await openLab();
  try {
    const byTarget = TARGETS.map((words) => {
      const target = parseTarget(words);
      return { target, bodies: requests.map((request) => bodyOf(lab, target, request)) };
    });
    const broken = byTarget.flatMap(({ target, bodies }) =>
      bodies.flatMap((body) => brokenLaws(target, body).map((rule) => `${target.api}: ${rule}`)),
    );
    return { requests: byTarget[0]?.bodies ?? [], broken };
  } finally {
    await lab.close();
  }
}

function script(input: Obj): ScriptedAnswer[] {
  if (isObj(input.repeat_forever)) return [{ calls: objs(input.repeat_forever.calls) }];
  if (typeof input.model_arguments_raw === 'string') {
    const name = objs(input.tools)[0]?.name;
    return [{ calls: [{ id: 'c1', name, args_raw: input.model_arguments_raw }] }, { text: 'done' }];
  }
  return [{ calls: objs(input.model_calls ?? input.batch) }, { text: 'done' }];
}

/** Tools of a case: a map of names to function bodies, or a list with schemas. */
function toolsOf(input: Obj): Tool[] {
  const annotations = { readOnlyHint: true };
  if (Array.isArray(input.tools)) {
    return objs(input.tools).map((tool) =>
      defineJsonTool({
        name: str(tool.name),
        description: 'A tool.',
        annotations,
        inputSchema: isObj(tool.parameters) ? (tool.parameters as JsonObject) : null,
        execute: typeof tool.execute === 'string' ? compiled(tool.execute) : () => 'ok',
      }),
    );
  }
  const bodies = isObj(input.tools) ? input.tools : {};
  return Object.entries(bodies).map(([name, body]) =>
    defineJsonTool({
      name,
      description: 'A tool.',
      annotations,
      inputSchema: { type: 'object', properties: {} },
      execute: compiled(str(body)),
    }),
  );
}

/** `tool` with `abort_at_ms`: a tool that works until it is told to stop; the user aborts that long after it began. */
function abortedTool(input: Obj, abort: AbortController): Tool[] {
  const { tool, abort_at_ms: at } = input;
  if (!isObj(tool) || typeof at !== 'number') return [];
  const execute = (_: JsonObject, { signal }: ToolContext) =>
    new Promise((_resolve, reject) => {
      setTimeout(() => abort.abort(), at);
      signal.addEventListener('abort', () => reject(signal.reason));
    });
  const annotations = { readOnlyHint: false, idempotentHint: true };
  return [
    defineJsonTool({
      name: str(tool.name),
      description: 'A tool.',
      annotations,
      inputSchema: { type: 'object', properties: {} },
      execute,
    }),
  ];
}

/** The body of an execute function; it may await, and finds `input`, `args`, `context`, `signal` and `sleep`. */
function compiled(body: string): (args: JsonObject, context: ToolContext) => unknown {
  const make = Object.getPrototypeOf(async () => undefined).constructor as new (
    ...parts: string[]
  ) => (...args: unknown[]) => unknown;
  const run = new make('input', 'args', 'context', 'signal', 'sleep', body);
  const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
  return (args, context) => run(args, args, context, context.signal, sleep);
}
