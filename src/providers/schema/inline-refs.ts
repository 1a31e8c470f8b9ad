import type { Json, JsonObject } from '../../transcript/json.ts';
import { isJsonObject } from '../../transcript/json.ts';
import { mapSubSchemas } from './sub-schemas.ts';

/** How often one definition may stand inside itself before it is cut: deep enough for real arguments, small enough for any request. */
const MAX_NESTING = 3;
/** Nodes of the result; past it every reference is cut, so that mutual recursion cannot grow without end. */
const MAX_NODES = 20_000;

interface Inlining {
  readonly root: JsonObject;
  readonly open: ReadonlyMap<string, number>;
  readonly budget: { nodes: number };
}

/**
 * The same schema without `$ref`, `$defs` and `definitions`: for servers that know no references. A definition that
 * contains itself is cut at a fixed depth by a permissive schema; references that lead nowhere become permissive too.
 */
export function inlineRefs(schema: JsonObject): JsonObject {
  const inlined = inline(schema, { root: schema, open: new Map(), budget: { nodes: MAX_NODES } });
  return isJsonObject(inlined) ? inlined : {};
}

function inline(schema: Json, at: Inlining): Json {
  if (Array.isArray(schema)) return schema.map((one: Json) => inline(one, at));
  if (!isJsonObject(schema)) return schema;
  at.budget.nodes -= 1;
  const { $ref, ...own } = schema;
  if (typeof $ref !== 'string') return inlineKeys(own, at);
  const times = at.open.get($ref) ?? 0;
  const target = times < MAX_NESTING && at.budget.nodes > 0 ? referenced(at.root, $ref) : undefined;
  const inner = target === undefined ? {} : inline(target, { ...at, open: new Map(at.open).set($ref, times + 1) });
  // What stands beside a reference (a description) adds to what it refers to.
  return { ...(isJsonObject(inner) ? inner : {}), ...inlineKeys(own, at) };
}

function inlineKeys({ $defs: _, definitions: __, ...schema }: JsonObject, at: Inlining): JsonObject {
  return mapSubSchemas(schema, (inner) => inline(inner, at));
}

/** The sub-schema that a local reference such as `#/$defs/Node` means. */
export function referenced(root: JsonObject, ref: string): Json | undefined {
  if (!ref.startsWith('#')) return undefined;
  let at: Json | undefined = root;
  for (const raw of ref.slice(1).split('/').slice(1)) {
    const key = raw.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return undefined;
    at = (at as JsonObject)[key];
  }
  return at;
}
