import { z } from 'zod';
import type { JsonObject } from '../../transcript/json.ts';
import type { ToolSpec } from '../../transcript/message.ts';
import { wellFormed } from '../../transcript/well-formed.ts';
import { wireName } from '../../transcript/wire-name.ts';
import { defineJsonTool } from '../define-tool.ts';
import { effectClass } from '../effect-class.ts';
import { reasonOf } from './failure.ts';

const SEPARATOR = '__';
/** Tools of one server; no model works with more. */
const MAX_TOOLS = 1000;
/** Characters of one tool's description and schema. */
const MAX_SPEC_CHARS = 256 * 1024;

/** The parts of a listed tool that count; the rest may be whatever it likes. */
const listedTool = z.looseObject({
  name: z.string().min(1),
  title: z.string().optional(),
  description: z.string().optional(),
  inputSchema: z.record(z.string(), z.json()).optional(),
  annotations: z.looseObject({}).optional(),
  execution: z.looseObject({ taskSupport: z.unknown() }).optional(),
});

export interface ServerSpecs {
  readonly specs: readonly ToolSpec[];
  /** Tools that cannot be offered, a line each. */
  readonly leftOut: readonly string[];
}

export interface SpecRules {
  /** `false` leaves out every tool that does not say that it only reads. */
  readonly allowEffects: boolean;
  /** Takes secrets out of text: a server may have put its own into a description. */
  readonly redact: (text: string) => string;
}

/** Tools as a server lists them, in our words. One that does not fit costs only itself; of two with one name neither is offered. */
export function serverSpecs(server: string, listed: readonly unknown[], rules: SpecRules): ServerSpecs {
  const specs: ToolSpec[] = [];
  const leftOut: string[] = [];
  for (const entry of listed.slice(0, MAX_TOOLS)) {
    const made = specOf(server, entry, rules);
    if (typeof made === 'string') leftOut.push(made);
    else specs.push(made);
  }
  if (listed.length > MAX_TOOLS) leftOut.push(`${listed.length - MAX_TOOLS} tools beyond the first ${MAX_TOOLS}`);
  const byWireName = new Map<string, ToolSpec[]>();
  for (const spec of specs) {
    const wire = wireName(spec.name);
    byWireName.set(wire, [...(byWireName.get(wire) ?? []), spec]);
  }
  for (const [wire, same] of byWireName) {
    if (same.length > 1) leftOut.push(`${same.map(({ name }) => name).join(', ')}: all would be called ${wire}`);
  }
  return { specs: specs.filter(({ name }) => byWireName.get(wireName(name))?.length === 1), leftOut };
}

/** Server and tool of a name that {@link serverSpecs} made. */
export function partsOf(name: string): { readonly server: string; readonly tool: string } | undefined {
  const at = name.indexOf(SEPARATOR);
  return at < 1 ? undefined : { server: name.slice(0, at), tool: name.slice(at + SEPARATOR.length) };
}

/** The spec, or why there is none. */
function specOf(server: string, entry: unknown, { allowEffects, redact }: SpecRules): ToolSpec | string {
  const read = listedTool.safeParse(entry);
  if (!read.success) return `${nameIn(entry)}: it is not described as MCP wants it`;
  const { name, title, description, inputSchema = {}, annotations, execution } = read.data;
  if (execution?.taskSupport === 'required') return `${name}: it runs only as a task, which is not supported`;
  const schema = JSON.stringify(inputSchema);
  const text = description ?? title ?? '';
  if (text.length + schema.length > MAX_SPEC_CHARS) return `${name}: its description is too long`;
  const spec: ToolSpec = {
    name: `${server}${SEPARATOR}${name}`,
    description: wellFormed(redact(text)),
    inputSchema: JSON.parse(redact(schema)) as JsonObject,
    annotations: hints(annotations ?? {}),
  };
  try {
    // Names and schemas are refused by the one rule for all tools.
    const tool = defineJsonTool({ ...spec, execute: () => undefined });
    if (!allowEffects && effectClass(tool) !== 'read_only') return `${name}: it is not marked as read-only`;
    return { ...spec, inputSchema: tool.inputSchema };
  } catch (error) {
    return `${name}: ${reasonOf(error)}`;
  }
}

function nameIn(entry: unknown): string {
  const name = typeof entry === 'object' && entry !== null ? Reflect.get(entry, 'name') : undefined;
  return typeof name === 'string' && name !== '' ? name : 'a tool without a name';
}

/** Claims, as given, but for one that contradicts itself: what destroys does not only read. */
function hints(given: Readonly<Record<string, unknown>>): NonNullable<ToolSpec['annotations']> {
  const claimed = (name: string): boolean | undefined => {
    const value = given[name];
    return typeof value === 'boolean' ? value : undefined;
  };
  const destructiveHint = claimed('destructiveHint');
  const readOnlyHint = destructiveHint === true ? false : claimed('readOnlyHint');
  const idempotentHint = claimed('idempotentHint');
  const openWorldHint = claimed('openWorldHint');
  return {
    ...(readOnlyHint === undefined ? {} : { readOnlyHint }),
    ...(idempotentHint === undefined ? {} : { idempotentHint }),
    ...(destructiveHint === undefined ? {} : { destructiveHint }),
    ...(openWorldHint === undefined ? {} : { openWorldHint }),
  };
}
