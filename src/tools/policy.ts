import ignore from 'ignore';
import type { JsonObject } from '../transcript/json.ts';
import { effectClass } from './effect-class.ts';
import type { Tool } from './tool.ts';
import { fitsWildcard } from './wildcard.ts';

export type PolicyDecision = 'allow' | 'ask' | 'deny';

/** One rule on calls of tools. A call that fits all that the rule names is decided by it, unless a later rule fits too. */
export interface PolicyRule {
  /** Name of the tool; `*` stands for any characters, `?` for one. */
  readonly tool?: string;
  /** Patterns of arguments, as for `tool`, by key. Anything but text is held against its JSON. An absent argument fits none. */
  readonly arguments?: Readonly<Record<string, string>>;
  /**
   * Where in the workspace the call acts, written as a line of a `.gitignore`. Paths are resolved first, links too. A rule
   * that allows fits only when all paths of the call do, any other when one does.
   */
  readonly path?: string;
  readonly decision: PolicyDecision;
  /** What the model is told of a call that the rule denies. */
  readonly reason?: string;
}

/** A path among the arguments of a call: all that it is known to be, from the root, with `/`, or `outside`. */
export type CallPath = { readonly inside: readonly string[] } | 'outside';

export interface PolicyCall {
  readonly tool: Tool;
  /** Changes nothing but our own store. */
  readonly own: boolean;
  readonly arguments: JsonObject;
  readonly paths: readonly CallPath[];
}

export interface PolicyAnswer {
  readonly decision: PolicyDecision;
  /** Why it is denied. */
  readonly reason?: string;
}

/** The rules of a config, made ready. */
export interface Policy {
  /** Whether a rule could ask for the paths of a call of this tool. */
  needsPaths(tool: Tool): boolean;
  decide(call: PolicyCall): PolicyAnswer;
}

/**
 * The last rule that fits a call decides. Where none does, tools that are read-only and those that change nothing but our
 * own store may run, and every other one asks.
 */
export function createPolicy(rules: readonly PolicyRule[] = []): Policy {
  const ready = rules.map((rule, index) => ({
    rule,
    index,
    covers: rule.path === undefined ? undefined : covers(rule.path),
  }));
  return {
    needsPaths: ({ name }) => ready.some(({ rule }) => rule.path !== undefined && fitsTool(rule, name)),
    decide: (call) => {
      const last = ready.findLast(({ rule, covers }) => fits(rule, covers, call));
      if (last === undefined) return { decision: call.own || effectClass(call.tool) === 'read_only' ? 'allow' : 'ask' };
      const { rule, index } = last;
      if (rule.decision !== 'deny') return { decision: rule.decision };
      return { decision: 'deny', reason: rule.reason ?? `The configuration forbids it (approvals[${index}]).` };
    },
  };
}

type Covers = (path: string) => boolean;

function fits(rule: PolicyRule, covers: Covers | undefined, call: PolicyCall): boolean {
  return (
    fitsTool(rule, call.tool.name) &&
    Object.entries(rule.arguments ?? {}).every(([key, pattern]) => fitsArgument(pattern, call.arguments, key)) &&
    (covers === undefined || fitsPaths(rule.decision, covers, call.paths))
  );
}

function fitsTool({ tool }: PolicyRule, name: string): boolean {
  return tool === undefined || fitsWildcard(tool, name);
}

function fitsArgument(pattern: string, args: JsonObject, key: string): boolean {
  if (!Object.hasOwn(args, key)) return false;
  const value = args[key];
  return fitsWildcard(pattern, typeof value === 'string' ? value : JSON.stringify(value));
}

/** What allows must hold for all that a call touches, under each of its names; what restrains holds from the first on. */
function fitsPaths(decision: PolicyDecision, covers: Covers, paths: readonly CallPath[]): boolean {
  if (decision !== 'allow') return paths.some((path) => path !== 'outside' && path.inside.some(covers));
  return paths.length > 0 && paths.every((path) => path !== 'outside' && path.inside.every(covers));
}

/** Lines of a `.gitignore` that mean the whole workspace; the root itself has no name that one could fit. */
const WHOLE: ReadonlySet<string> = new Set(['.', './', '/', '*', '**', '/*', '/**']);

function covers(pattern: string): Covers {
  const matcher = ignore({ ignorecase: false }).add(pattern);
  // With a slash at the end too: whether a path is a folder is not known of one that is yet to be made.
  return (path) => (path === '.' ? WHOLE.has(pattern) : matcher.ignores(path) || matcher.ignores(`${path}/`));
}
