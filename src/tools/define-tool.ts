import type { z } from 'zod';
import type { JsonObject } from '../transcript/json.ts';
import { unmistakable } from '../transcript/unmistakable.ts';
import { headOf } from '../transcript/well-formed.ts';
import { inputSchemaOf, objectRoot } from './input-schema.ts';
import { checkSchema } from './json-schema-check.ts';
import { type Parsed, parseArgs } from './parse-args.ts';
import type { Tool, ToolDefinition } from './tool.ts';

const MAX_NAME = 128;
const MAX_LABEL = 120;

/**
 * Makes a tool out of a zod 4 schema and a function.
 *
 * Any zod schema with objects at the root works; what JSON Schema cannot say is given to the model as its nearest
 * stand-in and checked locally in full.
 *
 * @throws TypeError at once for an empty or overlong name, a root that is no object, a bad timeout, `quick` with effects.
 */
export function defineTool<Input extends z.ZodType = z.ZodObject>(definition: ToolDefinition<Input>): Tool {
  const { input, label, execute, reconcile } = definition;
  const parse = (args: JsonObject): Parsed => (input === undefined ? { ok: true, value: {} } : parseArgs(input, args));
  const inputSchema =
    input === undefined ? objectRoot(definition.name, undefined) : inputSchemaOf(named(definition), input);
  return {
    ...traits(definition),
    inputSchema,
    parse,
    label: (args) => {
      const parsed = label === undefined ? undefined : parse(args);
      const made = parsed?.ok ? () => label?.(parsed.value as z.output<Input>) : undefined;
      return labelOf(definition.name, args, made);
    },
    execute: (value, context) => execute(value as z.output<Input>, context),
    ...(reconcile === undefined ? {} : { reconcile: (value, context) => reconcile(value as z.output<Input>, context) }),
  };
}

/** What {@link defineJsonTool} takes: a tool whose arguments are described in JSON Schema (MCP servers, imports). */
export interface JsonToolDefinition
  extends Omit<ToolDefinition<z.ZodType>, 'input' | 'label' | 'execute' | 'reconcile'> {
  /** `null`, absent or `{}`: no arguments. */
  readonly inputSchema?: JsonObject | null;
  readonly label?: (args: JsonObject) => string;
  readonly execute: (args: JsonObject, context: Parameters<Tool['execute']>[1]) => Promise<unknown> | unknown;
}

/**
 * Makes a tool out of a JSON Schema and a function; arguments are checked by the keywords that matter in practice, and
 * keywords that are not known pass.
 *
 * @throws TypeError like {@link defineTool}.
 */
export function defineJsonTool(definition: JsonToolDefinition): Tool {
  const { label, execute } = definition;
  const inputSchema = objectRoot(named(definition), definition.inputSchema ?? undefined);
  return {
    ...traits(definition),
    inputSchema,
    parse: (args) => checkSchema(inputSchema, args),
    label: (args) => labelOf(definition.name, args, label === undefined ? undefined : () => label(args)),
    execute: (value, context) => execute(value as JsonObject, context),
  };
}

type Traits = Pick<
  Tool,
  'name' | 'description' | 'annotations' | 'resultSemantic' | 'timeoutSecs' | 'exclusive' | 'pollable' | 'quick'
>;

function traits(definition: Omit<ToolDefinition<z.ZodType>, 'input' | 'label' | 'execute' | 'reconcile'>): Traits {
  const { timeoutSecs } = definition;
  if (definition.quick === true && definition.annotations?.readOnlyHint !== true) {
    throw new TypeError(`tool ${JSON.stringify(named(definition))}: only a read-only tool may be quick`);
  }
  if (timeoutSecs !== undefined && !(Number.isFinite(timeoutSecs) && timeoutSecs > 0)) {
    throw new TypeError(`tool ${JSON.stringify(named(definition))}: timeoutSecs must be a positive number of seconds`);
  }
  return {
    name: named(definition),
    description: definition.description,
    annotations: definition.annotations ?? {},
    resultSemantic: definition.resultSemantic ?? 'mixed',
    exclusive: definition.exclusive ?? false,
    pollable: definition.pollable ?? false,
    quick: definition.quick ?? false,
    ...(timeoutSecs === undefined ? {} : { timeoutSecs }),
  };
}

function named({ name }: { readonly name: string }): string {
  if (typeof name !== 'string' || name.trim() === '') throw new TypeError('a tool needs a name');
  if (name.length > MAX_NAME) {
    throw new TypeError(`tool ${JSON.stringify(name.slice(0, 40))}…: a name has at most ${MAX_NAME} characters`);
  }
  return name;
}

/** One short line, whatever the tool's own label does; without one, the name and the first text among the arguments. */
function labelOf(name: string, args: JsonObject, made: (() => string | undefined) | undefined): string {
  try {
    return oneLine(made === undefined ? `${name} ${firstText(args)}` : (made() ?? name));
  } catch {
    return name;
  }
}

function firstText(args: JsonObject): string {
  return Object.values(args).find((value) => typeof value === 'string') ?? '';
}

/** People decide by labels: nothing in them may look like something else. */
function oneLine(text: string): string {
  // Looked at before it is made longer by escapes: a label comes from arguments, which may be megabytes.
  const line = unmistakable(String(text).slice(0, 4 * MAX_LABEL)).trim();
  return line.length <= MAX_LABEL ? line : `${headOf(line, MAX_LABEL - 1)}…`;
}
