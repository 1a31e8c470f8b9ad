import type { JsonObject } from '../../transcript/json.ts';
import type { ToolSpec } from '../../transcript/message.ts';
import { wireName } from '../../transcript/wire-name.ts';
import { ProviderError } from '../errors.ts';
import { flatRoot } from './flat-root.ts';
import { inlineRefs } from './inline-refs.ts';
import { strictSchema } from './strict-schema.ts';
import { tidySchema } from './tidy-schema.ts';

/** What an endpoint takes as tools; part of a dialect's data. */
export interface ToolRules {
  /** More tools than this are refused before the network; absent: no limit known. */
  readonly maxTools?: number;
  /** `inline` for servers that know no `$ref`. */
  readonly refs: 'keep' | 'inline';
  /** `auto`: strict mode for each tool whose schema it can express. */
  readonly strict: 'auto' | 'off';
}

/** A tool in the form every wire takes, short of the vendor's wrapping. */
export interface WireTool {
  readonly name: string;
  readonly description: string;
  /** An object at the root, always with `properties`. */
  readonly schema: JsonObject;
  /** Whether the tool may be sent with strict mode on. */
  readonly strict: boolean;
}

/**
 * Shapes the tools of a request for an endpoint: legal names, a plain object at each root, no references where they are
 * not known, strict mode only where it says the same. Order is kept.
 *
 * @throws ProviderError `invalid_request` for too many tools and for two tools with one name on the wire.
 */
export function wireTools(tools: readonly ToolSpec[], rules: ToolRules): readonly WireTool[] {
  if (rules.maxTools !== undefined && tools.length > rules.maxTools) {
    throw new ProviderError(
      'invalid_request',
      `The request offers ${tools.length} tools; this provider takes at most ${rules.maxTools}.`,
    );
  }
  const owners = new Map<string, string>();
  return tools.map((tool) => {
    const name = wireName(tool.name);
    const owner = owners.get(name);
    if (owner !== undefined) {
      throw new ProviderError('invalid_request', `Tools "${owner}" and "${tool.name}" would both be called "${name}".`);
    }
    owners.set(name, tool.name);
    return { name, description: tool.description, ...shaped(tool.inputSchema, rules) };
  });
}

/** The schema of one tool (or of structured output) as the endpoint takes it. */
export function shaped(schema: JsonObject, rules: ToolRules): Pick<WireTool, 'schema' | 'strict'> {
  const flat = tidySchema(flatRoot(rules.refs === 'inline' ? inlineRefs(schema) : schema));
  const strict = rules.strict === 'auto' ? strictSchema(flat) : undefined;
  return { schema: strict ?? flat, strict: strict !== undefined };
}
