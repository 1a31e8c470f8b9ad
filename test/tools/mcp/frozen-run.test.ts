import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import type { AgentSpec } from '../../../src/activities/agents.ts';
import { agentOf, awayNote, toolsOfNewRun } from '../../../src/activities/run-agent.ts';
import type { LoadedRunConfig } from '../../../src/store/run-config.ts';
import { defineTool } from '../../../src/tools/define-tool.ts';
import { effectClass } from '../../../src/tools/effect-class.ts';
import { runTool } from '../../../src/tools/invoke.ts';
import type { ToolSource } from '../../../src/tools/mcp/tool-source.ts';
import { createToolRegistry } from '../../../src/tools/registry.ts';
import type { Tool } from '../../../src/tools/tool.ts';
import type { ToolSpec } from '../../../src/transcript/message.ts';
import { toolContext } from '../context.ts';
import { call, freshFolder, lines, stdio, testServers } from './servers.ts';

const own = defineTool({ name: 'scripted__echo', description: 'The own one.', execute: () => 'own' });

function agent(toolSource: ToolSource, tools: readonly Tool[] = []): AgentSpec {
  return {
    name: 'a',
    instructions: '',
    tools: createToolRegistry(tools, { ownTools: tools }),
    toolSource,
    maxToolTurns: 1,
    maxParallelTools: 1,
    toolTimeoutSecs: 60,
  };
}

/** A run as it comes back from the store. */
function opened(specs: readonly ToolSpec[]): LoadedRunConfig {
  return { config: { agent: 'a' }, tools: JSON.parse(JSON.stringify(specs)) } as unknown as LoadedRunConfig;
}

test('a run keeps its tools on another worker that has asked no server for its list', async () => {
  const folder = freshFolder();
  const first = testServers([stdio(folder)]);
  const { specs } = await toolsOfNewRun(agent(first.all));
  await call(first.all, 'scripted__change');
  await first.close();
  const listed = lines(folder, 'lists').length;

  const spec = agent(testServers([stdio(folder)]).all);
  const tools = agentOf({ agents: new Map([['a', spec]]) }, opened(specs))?.tools;
  expect(tools?.get('scripted__added')).toBeUndefined();
  const echo = tools?.get('scripted__echo');
  expect(echo).toMatchObject({ description: 'Says it again.' });
  // The server claims nothing of it any more: what counts is what it claimed when the run opened.
  expect(effectClass(echo as Tool)).toBe('read_only');
  expect(effectClass(tools?.get('scripted__note') as Tool)).toBe('at_most_once');
  expect(await runTool(echo as Tool, { text: 'hi' }, toolContext())).toMatchObject({ blocks: [{ text: 'hi' }] });
  expect(lines(folder, 'lists')).toHaveLength(listed);
});

test('an own tool wins over one of a server with the same name, and stays an own one', async () => {
  const spec = agent(testServers([stdio(freshFolder())]).all, [own]);
  const { specs } = await toolsOfNewRun(spec);
  expect(specs.filter(({ name }) => name === own.name)).toHaveLength(1);
  const tools = agentOf({ agents: new Map([['a', spec]]) }, opened(specs))?.tools;
  expect(tools?.get(own.name)).toBe(own);
  expect(tools?.isOwn(own)).toBe(true);
  expect(tools?.isOwn(tools.get('scripted__note') as Tool)).toBe(false);
});

test('the registry of a run is made once', async () => {
  const spec = agent(testServers([stdio(freshFolder())]).all);
  const run = opened((await toolsOfNewRun(spec)).specs);
  const deps = { agents: new Map([['a', spec]]) };
  expect(agentOf(deps, run)).toBe(agentOf(deps, run));
});

test('a server that the config names no more takes its tools along', async () => {
  const { specs } = await toolsOfNewRun(agent(testServers([stdio(freshFolder())]).all));
  const spec = agent(testServers([]).all);
  expect(agentOf({ agents: new Map([['a', spec]]) }, opened(specs))?.tools.tools).toEqual([]);
});

test('the prompt tells which servers are away', () => {
  expect(awayNote([])).toEqual({});
  const [[name, servers] = []] = Object.entries(
    awayNote([
      { server: 'a', reason: 'it ended with exit code 2' },
      { server: 'b', reason: 'there is no program "x"' },
    ]),
  );
  expect(`${name}: ${servers}`).toBe(
    'Tool servers that cannot be reached, so that their tools are missing: a (it ended with exit code 2), b (there is no program "x")',
  );
});

test('nothing loads the SDK before a server is asked for', () => {
  const root = path.join(import.meta.dirname, '../../..');
  const files = readdirSync(path.join(root, 'src'), { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  );
  const sources = files.map((name) => readFileSync(path.join(root, 'src', name), 'utf8'));
  const loading = sources.flatMap((source) =>
    [...source.matchAll(/^(import(?! type).*)?.*@modelcontextprotocol\/sdk.*$/gm)].map(([line]) => line.trim()),
  );
  expect(loading.length).toBeGreaterThan(4);
  expect(loading.filter((line) => !line.startsWith('import type') && !line.startsWith('import('))).toEqual([]);
});
