import type { JsonObject } from '../transcript/json.ts';
import type { ToolSpec } from '../transcript/message.ts';
import { wireName } from '../transcript/wire-name.ts';

/** The tools of one request by the names under which they went out, as models write them. */
export interface ToolNames {
  /** Whether `name` means an offered tool. */
  offers(name: string): boolean;
  /** The tool's own name; a name that means no offered tool comes back trimmed. */
  resolve(name: string): string;
  /** Input schema of the tool that `name` means. */
  schema(name: string): JsonObject | undefined;
}

/**
 * Maps names on the wire back to tools: the wire's stand-in for an illegal name, a known `functions.` prefix with or
 * without Kimi's `:0` index, a stray tail of markup. Never by likeness: an unknown name stays unknown.
 */
export function toolNames(tools: readonly ToolSpec[]): ToolNames {
  const known = new Map<string, ToolSpec>();
  for (const tool of tools) known.set(wireName(tool.name), tool);
  for (const tool of tools) known.set(tool.name, tool);

  const find = (raw: string): ToolSpec | undefined => {
    const exact = known.get(raw);
    if (exact !== undefined) return exact;
    const trimmed = raw.trim();
    return [trimmed, withoutPrefix(trimmed), withoutTail(trimmed), withoutPrefix(withoutTail(trimmed))]
      .map((name) => known.get(name))
      .find((tool) => tool !== undefined);
  };
  return {
    offers: (name) => find(name) !== undefined,
    resolve: (name) => find(name)?.name ?? name.trim(),
    schema: (name) => find(name)?.inputSchema,
  };
}

function withoutPrefix(name: string): string {
  return name.replace(/^functions?[.:]/, '').replace(/:\d+$/, '');
}

/** `get_weather" />`, `get_weather<|channel|>commentary`: what follows the name is no part of any name. */
function withoutTail(name: string): string {
  return name.replace(/^["']/, '').replace(/[<"'\s/>].*$/s, '');
}
