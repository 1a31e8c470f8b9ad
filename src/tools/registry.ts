import type { ToolSpec } from '../transcript/message.ts';
import { wireName } from '../transcript/wire-name.ts';
import { effectClass } from './effect-class.ts';
import type { Tool } from './tool.ts';

/** The tools a worker knows. */
export interface ToolRegistry {
  /** In the order of registration. */
  readonly tools: readonly Tool[];
  /** By the tool's own name or by the one it has on the wire. */
  get(name: string): Tool | undefined;
  /** Whether it is one of ours that changes nothing but our own store: it need not ask. */
  isOwn(tool: Tool): boolean;
  /** What the model is told, in the same order. */
  readonly specs: readonly ToolSpec[];
}

export interface ToolRegistryOptions {
  /** `false` refuses every tool that is not read-only: for workers that cannot ask for approval. Default true. */
  readonly allowEffects?: boolean;
  /** Tools of ours that change nothing but our own store: never refused, and they never ask. Told by identity, since hints are only claims. */
  readonly ownTools?: readonly Tool[];
}

/**
 * Holds tools under their names.
 *
 * @throws TypeError naming the tools for a duplicate, for two names that providers would see as one (`a.b` and `a_b`),
 *   and for a tool with effects where these are not allowed.
 */
export function createToolRegistry(tools: readonly Tool[], options: ToolRegistryOptions = {}): ToolRegistry {
  const byName = new Map<string, Tool>();
  for (const tool of tools) {
    if (options.allowEffects === false && options.ownTools?.includes(tool) !== true) requireReadOnly(tool);
    claim(byName, tool);
  }
  const own = new Set(options.ownTools);
  return {
    tools: [...tools],
    specs: tools.map(spec),
    get: (name) => byName.get(name),
    isOwn: (tool) => own.has(tool),
  };
}

function claim(byName: Map<string, Tool>, tool: Tool): void {
  const wire = wireName(tool.name);
  for (const name of new Set([tool.name, wire])) {
    const owner = byName.get(name);
    if (owner?.name === tool.name)
      throw new TypeError(`there are two tools with the name ${JSON.stringify(tool.name)}`);
    if (owner !== undefined) {
      const pair = `${JSON.stringify(owner.name)} and ${JSON.stringify(tool.name)}`;
      throw new TypeError(`the tools ${pair} would both be called ${JSON.stringify(wire)} by providers; rename one`);
    }
  }
  byName.set(tool.name, tool);
  byName.set(wire, tool);
}

function requireReadOnly(tool: Tool): void {
  if (effectClass(tool) === 'read_only') return;
  throw new TypeError(
    `the tool ${JSON.stringify(tool.name)} is not marked read-only (annotations.readOnlyHint) and tools with effects are not allowed here`,
  );
}

function spec({ name, description, inputSchema }: Tool): ToolSpec {
  return { name, description, inputSchema };
}
