import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type AgentDeps, configuredAgents } from '../../src/config/agents.ts';
import { defineAgent, defineConfig } from '../../src/config/define-config.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import type { HoldfastConfig } from '../../src/config/settings.ts';
import { HoldfastError } from '../../src/contract/errors.ts';
import { defineTool } from '../../src/tools/define-tool.ts';
import { Past } from '../tools/past.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'holdfast-config-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const load = (env: Record<string, string> = {}) => loadConfig({ folder, env });
const write = (name: string, text: string): void => writeFileSync(path.join(folder, name), text);
async function failure(work: () => unknown): Promise<HoldfastError> {
  try {
    await work();
  } catch (error) {
    if (error instanceof HoldfastError) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}
const READ_ONLY: AgentDeps = { store: new Past([]), allowEffects: false, env: {} };

describe('loading', () => {
  test('a folder without a config file has all defaults', async () => {
    expect(await load()).toEqual({
      folder,
      config: {},
      workspace: folder,
      store: path.join(folder, '.holdfast', 'holdfast.db'),
    });
  });

  test('a TypeScript config needs nothing installed, and leaves nothing behind', async () => {
    write(
      'holdfast.config.ts',
      `import { defineAgent, defineConfig, defineTool } from 'holdfast';
       import { z } from 'zod';
       import { greeting } from './greeting.ts';
       const name: string = await Promise.resolve('greeter');
       const greet = defineTool({
         name: 'greet', description: 'Greets.', input: z.object({ who: z.string() }),
         annotations: { readOnlyHint: true }, execute: async ({ who }) => greeting(who),
       });
       export default defineConfig({ agents: [defineAgent({ name, tools: [greet] })], workspace: '.', model: 'a/b' });`,
    );
    write('greeting.ts', `export const greeting = (who: string): string => \`Hello \${who}\`;`);
    const loaded = await load();
    expect(loaded.file).toBe(path.join(folder, 'holdfast.config.ts'));
    const agents = configuredAgents(loaded, READ_ONLY);
    const tool = agents.get('greeter')?.tools.get('greet');
    expect(await tool?.execute({ who: 'you' }, {} as never)).toBe('Hello you');
    expect(readdirSync(folder).sort()).toEqual(['greeting.ts', 'holdfast.config.ts']);
  });

  test.each(['holdfast.config.mts', 'holdfast.config.js', 'holdfast.config.mjs'])('%s works too', async (name) => {
    write(name, `export default { model: 'x/y' };`);
    expect((await load()).config).toEqual({ model: 'x/y' });
  });

  test('a changed file is read anew', async () => {
    write('holdfast.config.ts', `export default { model: 'x/one' };`);
    expect((await load()).config.model).toBe('x/one');
    write('holdfast.config.ts', `export default { model: 'x/two' };`);
    expect((await load()).config.model).toBe('x/two');
  });

  test.each([
    [
      'a syntax error',
      'export default {\n  model: ,\n};',
      /could not be loaded: .*Unexpected token \(line 2, column \d+\)$/,
    ],
    [
      'an exception',
      `throw new Error('no luck'); export default {};`,
      /could not be loaded: no luck \(line 1, column \d+\)$/,
    ],
    [
      'an unknown package',
      `import 'no-such-package-xyz'; export default {};`,
      /could not be loaded: .*no-such-package-xyz/,
    ],
    ['a function', 'export default () => ({});', /default export must be/],
    ['no default export', 'export const model = "a/b";', /default export must be/],
    ['a workspace that is no folder', 'export default { workspace: "./nope" };', /^workspace: .*nope is not a folder$/],
    [
      'a wrong setting',
      'export default { agents: [{ name: "a", maxToolTurns: "ten" }] };',
      /^holdfast\.config\.ts: agents\[0\]\.maxToolTurns: expected number, got string$/,
    ],
    [
      'a wrong setting in defineConfig',
      `import { defineConfig } from 'holdfast'; export default defineConfig({ storage: 1 });`,
      /^holdfast\.config\.ts: storage: there is no such field$/,
    ],
  ])('%s is one clear sentence', async (_, text, message) => {
    write('holdfast.config.ts', text);
    const error = await failure(load);
    expect(error).toMatchObject({ code: 'ConfigInvalid', hint: expect.stringContaining('holdfast.config.ts') });
    expect(error.message).toMatch(message);
    expect(error.message).not.toContain('\n');
  });

  test.each([
    [{}, undefined, '.holdfast/holdfast.db'],
    [{}, 'data/own.db', 'data/own.db'],
    [{ HOLDFAST_STORE: 'env.db' }, 'data/own.db', 'env.db'],
    [{ HOLDFAST_STORE: '' }, undefined, '.holdfast/holdfast.db'],
  ])('with %j and store %j the store is %s', async (env, store, expected) => {
    write('holdfast.config.ts', `export default ${JSON.stringify(store === undefined ? {} : { store })};`);
    expect((await load(env as Record<string, string>)).store).toBe(path.join(folder, expected));
    expect(existsSync(path.join(folder, '.holdfast'))).toBe(false);
  });

  test('a database URL is taken as it is', async () => {
    expect((await load({ HOLDFAST_STORE: 'postgres://h/db' })).store).toBe('postgres://h/db');
  });
});

describe('validation', () => {
  test.each<[HoldfastConfig | unknown, string]>([
    [{ agents: [{ name: 'a b' }] }, 'agents[0].name: expected 1 to 64 of the characters A-Z a-z 0-9 . _ -'],
    [{ agents: [{ name: 'a' }, { name: 'a' }] }, 'agents: there are two with the name "a"'],
    [
      { agents: [{ name: 'a', model: 'gpt-5' }] },
      'agents[0].model: expected provider/model, such as anthropic/claude-sonnet-4-5',
    ],
    [{ agents: [{ name: 'a', tools: ['rm'] }] }, 'agents[0].tools[0]: expected a tool made by defineTool'],
    [{ agents: [{ name: 'a', tools: [{}] }] }, 'agents[0].tools[0]: expected a tool made by defineTool'],
    [{ agents: [{ name: 'a', temperature: 3 }] }, 'agents[0].temperature: expected number to be <=2'],
    [
      { providers: { mine: { baseURL: 'http://x/v1' } } },
      'providers.mine.api: missing, and mine is not known by its name',
    ],
    [{ providers: { mine: { api: 'openai-chat', baseURL: 'ftp://x' } } }, 'providers.mine.baseURL: expected a URL'],
    [{ providers: { openai: { apiKey: 'sk-1' } } }, 'providers.openai.apiKey: there is no such field'],
    [
      { providers: { openai: { apiKeyEnv: 'sk-abc' } } },
      'providers.openai.apiKeyEnv: expected the name of an environment variable, never a key itself',
    ],
    [
      { providers: { mine: { api: 'anthropic', dialect: 'openai' } } },
      'providers.mine.dialect: only openai-chat has it, and this provider speaks anthropic',
    ],
    [
      { providers: { openai: { reasoning: 'text' } } },
      'providers.openai.reasoning: only openai-responses has it, and this provider speaks openai-chat',
    ],
    [
      { providers: { ollama: { unsignedThinking: 'replay' } } },
      'providers.ollama.unsignedThinking: only anthropic has it, and this provider speaks openai-chat',
    ],
    [{ models: { 'a/b': { abilities: { video: true } } } }, 'models["a/b"].abilities.video: there is no such field'],
    [{ models: { 'a/b': { window: 10 } } }, 'models["a/b"].window: expected number to be >=1000'],
    [
      {
        context: { compaction: { triggerRatio: 0.3, hardRatio: 0.4 } },
        agents: [{ name: 'a', context: { compaction: { triggerRatio: 0.5 } } }],
      },
      'agents[0].context.compaction.triggerRatio: must not be greater than hardRatio',
    ],
    [
      { agents: [{ name: 'a', context: { compaction: { ratio: 1 } } }] },
      'agents[0].context.compaction.ratio: there is no such field',
    ],
    [
      { context: { compaction: { model: 'small' } } },
      'context.compaction.model: expected provider/model, such as anthropic/claude-sonnet-4-5',
    ],
    [
      { context: { compaction: { triggerRatio: 0.96 } } },
      'context.compaction.triggerRatio: must not be greater than hardRatio',
    ],
    [{ hooks: [{ name: 'h', on: { beforeTol: () => undefined } }] }, 'hooks[0].on.beforeTol: there is no such field'],
    [{ hooks: [{ name: 'h', on: { beforeTool: 1 } }] }, 'hooks[0].on.beforeTool: expected a function'],
    [
      { agents: [{ name: 'a', tools: ['mcp:nowhere'] }], mcpServers: { here: { command: 'x' } } },
      'agents[0].tools: mcpServers has no nowhere',
    ],
    [{ agents: [{ name: 'a', delegates: ['b'] }] }, 'agents[0].delegates: there is no agent "b"'],
    [{ agents: [{ name: 'a', delegates: ['a'] }] }, 'agents[0].delegates: an agent cannot give tasks to itself'],
    [
      { mcpServers: { my_server: { command: 'x' } } },
      'mcpServers.my_server: expected a letter, then up to 31 letters, digits and dashes',
    ],
    [{ mcpServers: { a: {} } }, 'mcpServers.a: expected either command (a program) or url (a server)'],
    [
      { mcpServers: { a: { command: 'x', url: 'http://x' } } },
      'mcpServers.a: expected either command (a program) or url (a server)',
    ],
    [{ mcpServers: { a: { command: 'x', headers: {} } } }, 'mcpServers.a.headers: goes with url only'],
    [{ mcpServers: { a: { url: 'http://x', args: [] } } }, 'mcpServers.a.args: goes with command only'],
    [{ mcpServers: { a: { url: 'ws://x' } } }, 'mcpServers.a.url: expected a URL that begins with http'],
    [{ mcpServers: { a: { url: 'https://u:p4ssword@x' } } }, 'mcpServers.a.url: a URL holds no password: use headers'],
    [
      { mcpServers: { a: { command: 'x', env: { K: 'ghp_0123456789abcdef' } } } },
      'mcpServers.a.env.K: this looks like a secret: put it into an environment variable',
    ],
    [
      { mcpServers: { a: { command: 'x', args: ['--api-key=0123456789'] } } },
      'mcpServers.a.args[0]: this looks like a secret: put it into an environment variable',
    ],
    [
      { mcpServers: { a: { url: 'http://x', headers: { authorization: 'Bearer 0123456789' } } } },
      'mcpServers.a.headers.authorization: this looks like a secret',
    ],
    [
      { mcpServers: { a: { command: 'x', env: { K: { env: 'no name' } } } } },
      'mcpServers.a.env.K.env: expected the name of an environment variable, never a secret itself',
    ],
    [5, 'the whole: expected object, got number'],
  ])('%j is refused with its place', async (config, message) => {
    const error = await failure(() => defineConfig(config as HoldfastConfig));
    expect(error.code).toBe('ConfigInvalid');
    expect(error.message).toContain(`holdfast.config.ts: ${message}`);
  });

  test('every documented setting is accepted, and comes back as it is', () => {
    const tool = defineTool({ name: 't', description: 'd', execute: () => 1 });
    const config: Required<HoldfastConfig> = {
      agents: [
        {
          name: 'a',
          instructions: 'i',
          model: 'a/b',
          fallbacks: ['c/d/e'],
          tools: ['workspace', tool, 'mcp', 'mcp:github'],
          maxToolTurns: 3,
          maxParallelTools: 2,
          toolTimeoutSecs: 1.5,
          maxOutputTokens: 100,
          temperature: 0,
          thinking: { budgetTokens: 1000, effort: 'low' },
          onBudget: 'ask',
          budgets: { run: { maxUsd: 1, maxTokens: 2, maxDuration: 3 }, session: {} },
        },
      ],
      approvals: [
        { decision: 'ask' },
        { tool: 'mcp__*', arguments: { branch: 'main' }, decision: 'deny', reason: 'main is protected' },
        { tool: 'write_file', path: 'docs/**', decision: 'allow' },
      ],
      approvalDeadlineSecs: 3600,
      model: 'a/b',
      providers: {
        mine: {
          api: 'openai-chat',
          dialect: 'vllm',
          baseURL: 'http://x:1/v1',
          apiKeyEnv: 'MY_KEY',
          headers: { a: 'b', c: { env: 'D' } },
          requestsPerMinute: 1,
          tokensPerMinute: 2,
        },
        responses: { api: 'openai-responses', reasoning: 'text' },
        messages: { api: 'anthropic', unsignedThinking: 'replay' },
      },
      models: {
        'a/b': {
          window: 8000,
          outputLimit: 100,
          prices: { input: 1, output: 2, cacheRead: 0, cacheWrite: 1 },
          abilities: {
            tools: true,
            parallelTools: false,
            images: false,
            audio: false,
            files: false,
            reasoning: true,
            caching: true,
          },
        },
      },
      context: {
        compaction: {
          enabled: true,
          autoEnabled: false,
          triggerRatio: 0.5,
          hardRatio: 0.6,
          reserveTokens: 0,
          keepRecentTokens: 1,
          maxHistoryTurns: 1,
          keepRecentMessages: 1,
          compactThinking: true,
          maxMediaBytes: 1,
          model: 'a/b',
        },
      },
      store: 'x.db',
      workspace: '.',
      temporal: { taskQueue: 'q', toolsTaskQueue: 't' },
      mcpServers: {
        github: { command: 'npx', args: ['x'], env: { A: 'b', C: { env: 'D' } }, cwd: '.', timeoutSecs: 1 },
        web: { url: 'https://x/mcp', headers: { authorization: { env: 'T' } } },
      },
      hooks: [{ name: 'h', timeoutMs: 1, on: { onRunEnd: () => undefined } }],
      logLevel: 'warn',
    };
    expect(defineConfig(config)).toBe(config);
  });

  test('an agent may tighten what the config leaves loose', () => {
    const compaction = { triggerRatio: 0.3, hardRatio: 0.4 };
    const config: HoldfastConfig = { agents: [{ name: 'a', context: { compaction } }] };
    expect(defineConfig(config)).toBe(config);
  });

  test('defineAgent names the agent', async () => {
    expect((await failure(() => defineAgent({ name: 'x', maxToolTurns: 0 }))).message).toBe(
      'agent "x": maxToolTurns: expected number to be >0',
    );
  });
});

describe('agents', () => {
  /** What every agent with tools has of its own past. */
  const PAST = ['read_tool_output', 'search_transcript', 'read_transcript', 'remember', 'recall'];
  const agentsOf = (config: HoldfastConfig, deps = READ_ONLY) =>
    configuredAgents({ folder, workspace: folder, store: 'x', config }, deps);
  const effectful = defineTool({ name: 'send_mail', description: 'd', execute: () => 1 });

  test('one that may give tasks to others has a tool for it, which tells of them', () => {
    const agents = agentsOf({
      agents: [
        { name: 'lead', tools: [], delegates: ['scout'] },
        { name: 'scout', description: 'Reads fast.', tools: [] },
      ],
    });
    const [spec, ...more] = agents.get('lead')?.tools.specs ?? [];
    expect(spec).toMatchObject({ name: 'delegate', description: expect.stringContaining('scout: Reads fast.') });
    expect(more).toEqual([]);
    expect(agents.get('scout')?.tools.specs).toEqual([]);
  });

  test('without a config there is one, named default, with the read-only workspace tools', () => {
    const agents = agentsOf({});
    expect([...agents.keys()]).toEqual(['default']);
    expect(agents.get('default')).toMatchObject({
      maxToolTurns: 10,
      maxParallelTools: 8,
      toolTimeoutSecs: 60,
      onBudget: 'stop',
    });
    expect(agents.get('default')?.tools.specs.map(({ name }) => name)).toEqual([
      'list_dir',
      'find_files',
      'search_text',
      'read_file',
      ...PAST,
    ]);
    expect(agents.get('default')?.instructions).toMatch(/Holdfast/);
  });

  test('the first agent answers where none is called default', () => {
    const agents = agentsOf({ agents: [{ name: 'a', instructions: 'A' }, { name: 'b' }] });
    expect(agents.get('default')).toBe(agents.get('a'));
    expect(
      agentsOf({ agents: [{ name: 'a' }, { name: 'default', instructions: 'D' }] }).get('default')?.instructions,
    ).toBe('D');
  });

  test('tools are those that are named, each once', () => {
    const names = (tools: HoldfastConfig['agents']) =>
      agentsOf({ agents: tools ?? [] })
        .values()
        .next()
        .value?.tools.specs.map(({ name }) => name);
    expect(names([{ name: 'a', tools: ['read_file', 'workspace'] }])).toEqual([
      'read_file',
      'list_dir',
      'find_files',
      'search_text',
      ...PAST,
    ]);
    expect(names([{ name: 'a', tools: [] }])).toEqual([]);
    expect(names([{ name: 'a', tools: ['recall', 'recall'] }])?.sort()).toEqual([...PAST].sort());
  });

  test('remember is there without effects, a tool that merely says that it is idempotent is not', async () => {
    const claims = defineTool({
      name: 'forge',
      description: 'd',
      annotations: { idempotentHint: true },
      execute: () => 1,
    });
    expect(agentsOf({}).get('default')?.tools.get('remember')).toBeDefined();
    expect((await failure(() => agentsOf({ agents: [{ name: 'a', tools: [claims] }] }))).message).toMatch(
      /"forge" is not marked read-only/,
    );
  });

  test('a tool of the agent with the name of one of these takes its place', () => {
    const own = defineTool({
      name: 'recall',
      description: 'd',
      annotations: { readOnlyHint: true },
      execute: () => 'own',
    });
    const agent = agentsOf({ agents: [{ name: 'a', tools: [own] }] }).get('a');
    expect(agent?.tools.get('recall')).toBe(own);
    expect(agent?.tools.get('remember')).toBeDefined();
  });

  test('tools with effects are refused where these are not allowed', async () => {
    const config = { agents: [{ name: 'a', tools: [effectful] }] };
    expect(await failure(() => agentsOf(config))).toMatchObject({
      code: 'ConfigInvalid',
      message: expect.stringMatching(/agent "a": the tool "send_mail" is not marked read-only/),
    });
    expect(
      agentsOf(config, { ...READ_ONLY, allowEffects: true })
        .get('a')
        ?.tools.get('send_mail'),
    ).toBe(effectful);
  });

  test('built-in tools with effects are there by name where they are allowed', async () => {
    const config: HoldfastConfig = { agents: [{ name: 'a', tools: ['workspace', 'write_file', 'run_command'] }] };
    const { specs } = agentsOf(config, { ...READ_ONLY, allowEffects: true }).get('a')?.tools ?? { specs: [] };
    expect(specs.map(({ name }) => name)).toEqual(expect.arrayContaining(['write_file', 'run_command']));
    expect((await failure(() => agentsOf(config))).message).toMatch(
      /write_file changes things, which is not allowed here/,
    );
  });

  test('two tools of one name are refused', async () => {
    const twin = defineTool({
      name: 'read_file',
      description: 'd',
      annotations: { readOnlyHint: true },
      execute: () => 1,
    });
    expect((await failure(() => agentsOf({ agents: [{ name: 'a', tools: ['workspace', twin] }] }))).message).toMatch(
      /two tools with the name "read_file"/,
    );
  });
});
