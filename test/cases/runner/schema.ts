import { z } from 'zod';
import { defineJsonTool, defineTool } from '../../../src/tools/define-tool.ts';
import { createToolRegistry } from '../../../src/tools/registry.ts';
import type { Tool } from '../../../src/tools/tool.ts';
import type { JsonObject } from '../../../src/transcript/json.ts';
import { type Case, isObj, type Obj, objs, str } from './case-file.ts';
import { openLab } from './lab.ts';
import { brokenLaws } from './laws.ts';
import { bodyOf, requestOf, USER } from './next-request.ts';
import type { Observation, SeenRequest } from './observation.ts';
import { parseTarget } from './target.ts';
import { toolNamesOf } from './wire-reader.ts';

/** The formats that a tool must fit when the case names none. */
const EVERY_TARGET = ['openai-chat', 'anthropic', 'openai-responses'];

/** Registers the case's tools and looks at what each target's request says of them. */
export async function runSchema({ input, provider }: Case): Promise<Observation> {
  const specs = createToolRegistry(toolsOf(input)).specs;
  const requests: SeenRequest[] = [];
  const broken: string[] = [];
  for (const words of targetsOf(input, provider)) {
    const target = parseTarget(words);
    const lab = await openLab({ settings: isObj(input.target) ? input.target : {} });
    try {
      const request = bodyOf(lab, target, requestOf([USER], { model: lab.model(target), tools: specs }));
      requests.push(request);
      broken.push(...brokenLaws(target, request).map((rule) => `${words}: ${rule}`));
    } finally {
      await lab.close();
    }
  }
  return {
    requests,
    schemas: requests.flatMap(schemasOf),
    names: requests.length === 0 ? [] : toolNamesOf(requests[0] as SeenRequest),
    broken,
  };
}

function targetsOf(input: Obj, provider: string): string[] {
  const also = Array.isArray(input.also_run_for) ? input.also_run_for.map(String) : [];
  const named = isObj(input.target) ? str(input.target.provider) : str(input.target);
  const first = named !== '' ? [named] : provider === 'any' || provider === 'compatible' ? EVERY_TARGET : [provider];
  return [...first, ...also].map((name) => (name === 'openai' ? 'openai-chat' : name));
}

/** Tools from `zod` source, from `schemas` (JSON, `null`, or zod source), from `names`, or as many as `tool_count`. */
export function toolsOf(input: Obj): Tool[] {
  if (typeof input.zod === 'string') return [zodTool('tool_under_test', input.zod)];
  if (Array.isArray(input.schemas)) {
    return input.schemas.map((schema, i) =>
      typeof schema === 'string' ? zodTool(`tool_${i}`, schema) : jsonTool(`tool_${i}`, schema),
    );
  }
  if (Array.isArray(input.names)) return input.names.map((name) => jsonTool(String(name), null));
  if (typeof input.tool_count === 'number')
    return Array.from({ length: input.tool_count }, (_, i) => jsonTool(`tool_${i}`, null));
  return objs(input.tools).map((tool) => jsonTool(str(tool.name), tool.parameters));
}

function jsonTool(name: string, schema: unknown): Tool {
  return defineJsonTool({
    name,
    description: 'A tool.',
    inputSchema: isObj(schema) ? (schema as JsonObject) : null,
    execute: () => 'ok',
  });
}

function zodTool(name: string, source: string): Tool {
  return defineTool({ name, description: 'A tool.', input: evaluate(source), execute: () => 'ok' });
}

/** Evaluates the source of a zod schema; its last expression is the schema. */
function evaluate(source: string): z.ZodType {
  // Direct `eval` in a function of its own gives the value of the last statement, with `z` in scope.
  const run = new Function('z', 'source', 'return eval(source)') as (zod: typeof z, text: string) => z.ZodType;
  return run(z, source);
}

function schemasOf({ api, body }: SeenRequest): Obj[] {
  return objs(body.tools).flatMap((tool) => {
    const schema =
      api === 'anthropic' ? tool.input_schema : isObj(tool.function) ? tool.function.parameters : tool.parameters;
    return isObj(schema) ? [schema] : [];
  });
}
