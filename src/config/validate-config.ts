import { z } from 'zod';
import { HoldfastError } from '../contract/errors.ts';
import { HOOK_POINTS, type HookFunction } from '../hooks/hooks.ts';
import type { Abilities } from '../providers/catalog.ts';
import { DIALECTS, type DialectName } from '../providers/openai-chat/dialects.ts';
import { SERVER_NAME } from '../tools/mcp/server-settings.ts';
import { problemLines } from '../tools/parse-args.ts';
import type { Tool } from '../tools/tool.ts';
import { DEFAULT_CONTEXT_CONFIG } from '../transcript/budget.ts';
import { type ConfigurableApi, KNOWN_PROVIDERS, LOCAL_SERVERS } from './known-providers.ts';
import {
  type AgentSettings,
  BUILTIN_TOOLS,
  type CompactionSettings,
  type HoldfastConfig,
  type ProviderSettings,
} from './settings.ts';
import { mcpServer } from './validate-mcp-server.ts';

const positive = z.number().positive();
const whole = z.number().int().positive();
const ratio = z.number().gt(0).lte(1);
const modelName = z.string().regex(/^[^/\s]+\/\S+$/, 'expected provider/model, such as anthropic/claude-sonnet-4-5');
const variable = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'expected the name of an environment variable, never a key itself');
const functionValue = z.custom<HookFunction>((value) => typeof value === 'function', 'expected a function');

const tool = z.custom<Tool>(
  (value) =>
    typeof value === 'object' && value !== null && 'execute' in value && 'inputSchema' in value && 'parse' in value,
  `expected a tool made by defineTool, or one of ${BUILTIN_TOOLS.join(', ')}`,
);
const mcpChoice = z.templateLiteral(['mcp', z.string().regex(/^(?::.+)?$/)]);
const zodType = z.custom<z.ZodType>(
  (value) => typeof value === 'object' && value !== null && '_zod' in value,
  'expected a zod 4 schema',
);

const budget = z.strictObject({
  maxUsd: positive.optional(),
  maxTokens: whole.optional(),
  maxDuration: positive.optional(),
});

const compaction = z.strictObject({
  enabled: z.boolean().optional(),
  autoEnabled: z.boolean().optional(),
  triggerRatio: ratio.optional(),
  hardRatio: ratio.optional(),
  reserveTokens: z.number().int().min(0).optional(),
  keepRecentTokens: z.number().int().min(0).optional(),
  maxHistoryTurns: whole.optional(),
  keepRecentMessages: z.number().int().min(0).optional(),
  compactThinking: z.boolean().optional(),
  maxMediaBytes: z.number().int().min(0).optional(),
  model: modelName.optional(),
});
const context = z.strictObject({ compaction: compaction.optional() });

const agent = z.strictObject({
  name: z.string().regex(/^[A-Za-z0-9._-]{1,64}$/, 'expected 1 to 64 of the characters A-Z a-z 0-9 . _ -'),
  description: z.string().optional(),
  instructions: z.string().optional(),
  model: modelName.optional(),
  fallbacks: z.array(modelName).optional(),
  tools: z
    .array(
      z.union(
        [z.enum(BUILTIN_TOOLS), tool, mcpChoice],
        `expected a tool made by defineTool, mcp, mcp:<server>, or one of ${BUILTIN_TOOLS.join(', ')}`,
      ),
    )
    .optional(),
  delegates: z.array(z.string()).optional(),
  maxToolTurns: whole.optional(),
  maxParallelTools: whole.max(100).optional(),
  toolTimeoutSecs: positive.max(86_400).optional(),
  maxOutputTokens: whole.optional(),
  temperature: z.number().min(0).max(2).optional(),
  thinking: z
    .union([
      z.literal('off'),
      z.strictObject({ budgetTokens: whole.optional(), effort: z.enum(['low', 'medium', 'high']).optional() }),
    ])
    .optional(),
  outputSchema: zodType.optional(),
  onBudget: z.enum(['stop', 'ask']).optional(),
  budgets: z.strictObject({ run: budget.optional(), session: budget.optional() }).optional(),
  context: context.optional(),
});

const provider = z.strictObject({
  api: z.enum(['openai-chat', 'openai-responses', 'anthropic']).optional(),
  dialect: z.enum(Object.keys(DIALECTS) as DialectName[]).optional(),
  baseURL: z.url({ protocol: /^https?$/, error: 'expected a URL that begins with http:// or https://' }).optional(),
  apiKeyEnv: variable.optional(),
  headers: z.record(z.string(), z.union([z.string(), z.strictObject({ env: variable })])).optional(),
  requestsPerMinute: positive.optional(),
  tokensPerMinute: positive.optional(),
  reasoning: z.enum(['encrypted', 'text']).optional(),
  unsignedThinking: z.enum(['drop', 'replay']).optional(),
});

const price = z.number().min(0);
const yesOrNo = z.boolean().optional();
const abilities: Readonly<Record<keyof Abilities, typeof yesOrNo>> = {
  tools: yesOrNo,
  parallelTools: yesOrNo,
  images: yesOrNo,
  audio: yesOrNo,
  files: yesOrNo,
  reasoning: yesOrNo,
  caching: yesOrNo,
};
const model = z.strictObject({
  window: whole.min(1000).optional(),
  outputLimit: whole.optional(),
  prices: z
    .strictObject({ input: price, output: price, cacheRead: price.optional(), cacheWrite: price.optional() })
    .optional(),
  abilities: z.strictObject(abilities).optional(),
});

const hook = z.strictObject({
  name: z.string().min(1),
  timeoutMs: positive.optional(),
  on: z.strictObject(Object.fromEntries(HOOK_POINTS.map((point) => [point, functionValue.optional()]))),
});

const approval = z.strictObject({
  tool: z.string().min(1).optional(),
  arguments: z.record(z.string(), z.string()).optional(),
  // A line that negates, comments or is blank would fit nothing, and the rule be no rule.
  path: z
    .string()
    .regex(/^\s*[^!#\s]/, 'expected a path or pattern within the workspace, such as docs/**')
    .optional(),
  decision: z.enum(['allow', 'ask', 'deny']),
  reason: z.string().min(1).optional(),
});

const config = z.strictObject({
  agents: z.array(agent).optional(),
  model: modelName.optional(),
  providers: z
    .record(z.string().regex(/^[a-z0-9][a-z0-9._-]*$/, 'expected lower-case letters, digits, . _ -'), provider)
    .optional(),
  models: z.record(modelName, model).optional(),
  context: context.optional(),
  store: z.string().min(1).optional(),
  workspace: z.string().min(1).optional(),
  temporal: z
    .strictObject({ taskQueue: z.string().min(1).optional(), toolsTaskQueue: z.string().min(1).optional() })
    .optional(),
  mcpServers: z
    .record(z.string().regex(SERVER_NAME, 'expected a letter, then up to 31 letters, digits and dashes'), mcpServer)
    .optional(),
  approvals: z.array(approval).optional(),
  approvalDeadlineSecs: positive.max(31_536_000).optional(),
  hooks: z.array(hook).optional(),
  logLevel: z.enum(['debug', 'info', 'warn', 'error']).optional(),
});

/**
 * Checks a whole config and hands it back as it is.
 *
 * @param source what people call it, such as `holdfast.config.ts`.
 * @throws HoldfastError `ConfigInvalid`, one sentence a problem with the path of each.
 */
export function validConfig(value: unknown, source: string): HoldfastConfig {
  const result = config.safeParse(value);
  const problems = result.success ? crossChecks(result.data as HoldfastConfig) : problemLines(result.error.issues, '');
  if (problems.length > 0) throw invalid(source, problems);
  return value as HoldfastConfig;
}

/** @throws HoldfastError `ConfigInvalid` */
export function validAgent(value: unknown): AgentSettings {
  const result = agent.safeParse(value);
  if (!result.success) throw invalid(agentName(value), problemLines(result.error.issues, ''));
  return value as AgentSettings;
}

function agentName(value: unknown): string {
  const named = typeof value === 'object' && value !== null && 'name' in value && typeof value.name === 'string';
  return named ? `agent ${JSON.stringify(value.name)}` : 'defineAgent';
}

function invalid(source: string, problems: readonly string[]): HoldfastError {
  return new HoldfastError('ConfigInvalid', `${source}: ${problems.join('; ')}`, {
    hint: `Correct ${source.endsWith('.ts') || source.endsWith('js') ? source : 'holdfast.config.ts'}.`,
  });
}

/** What no schema of one part can see. */
function crossChecks({ agents = [], providers = {}, mcpServers = {}, context }: HoldfastConfig): readonly string[] {
  const names = agents.map(({ name }) => name);
  const twice = names
    .filter((name, i) => names.indexOf(name) !== i)
    .map((name) => `agents: there are two with the name ${JSON.stringify(name)}`);
  const misfits = Object.entries(providers).flatMap(([id, provider]) => providerProblems(id, provider));
  const unknown = agents.flatMap(({ tools = [] }, i) =>
    unknownServers(tools, mcpServers).map((problem) => `agents[${i}].tools: ${problem}`),
  );
  return [
    ...twice,
    ...misfits,
    ...unknown,
    ...delegateProblems(agents),
    ...contextProblems(agents, context?.compaction),
  ];
}

function delegateProblems(agents: readonly AgentSettings[]): readonly string[] {
  const names = agents.map(({ name }) => name);
  return agents.flatMap(({ name, delegates = [] }, i) =>
    delegates.flatMap((delegate) => {
      if (delegate === name) return [`agents[${i}].delegates: an agent cannot give tasks to itself`];
      return names.includes(delegate) ? [] : [`agents[${i}].delegates: there is no agent ${JSON.stringify(delegate)}`];
    }),
  );
}

function unknownServers(
  tools: NonNullable<AgentSettings['tools']>,
  servers: NonNullable<HoldfastConfig['mcpServers']>,
): readonly string[] {
  const names = tools.flatMap((tool) => (typeof tool === 'string' && tool.startsWith('mcp:') ? tool.slice(4) : []));
  return names.filter((name) => !Object.hasOwn(servers, name)).map((name) => `mcpServers has no ${name}`);
}

function providerProblems(id: string, provider: ProviderSettings): readonly string[] {
  const named = Object.hasOwn(KNOWN_PROVIDERS, id) ? KNOWN_PROVIDERS[id] : LOCAL_SERVERS[id];
  const api = provider.api ?? named?.api;
  if (api === undefined) return [`providers.${id}.api: missing, and ${id} is not known by its name`];
  if (id === 'offline') return ['providers.offline: this id is taken'];
  return ONE_API_ONLY.filter(({ key, only }) => provider[key] !== undefined && api !== only).map(
    ({ key, only }) => `providers.${id}.${key}: only ${only} has it, and this provider speaks ${api}`,
  );
}

/** Settings that mean something in one wire format only. */
const ONE_API_ONLY: readonly { readonly key: keyof ProviderSettings; readonly only: ConfigurableApi }[] = [
  { key: 'dialect', only: 'openai-chat' },
  { key: 'reasoning', only: 'openai-responses' },
  { key: 'unsignedThinking', only: 'anthropic' },
];

/** An agent's settings stand over the config's, so that only both together can be told right from wrong. */
function contextProblems(agents: readonly AgentSettings[], common: CompactionSettings = {}): readonly string[] {
  const own = agents.flatMap(({ context }, i) => {
    const settings = context?.compaction;
    return settings === undefined ? [] : compactionProblems(`agents[${i}].context`, { ...common, ...settings });
  });
  return [...compactionProblems('context', common), ...own];
}

function compactionProblems(place: string, settings: CompactionSettings): readonly string[] {
  const { triggerRatio = DEFAULT_CONTEXT_CONFIG.triggerRatio, hardRatio = DEFAULT_CONTEXT_CONFIG.hardRatio } = settings;
  return triggerRatio > hardRatio ? [`${place}.compaction.triggerRatio: must not be greater than hardRatio`] : [];
}
