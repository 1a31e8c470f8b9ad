import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import { runTool } from '../../../src/tools/invoke.ts';
import { createMcpServers, type McpServers } from '../../../src/tools/mcp/mcp-servers.ts';
import type { McpServerDeps } from '../../../src/tools/mcp/server.ts';
import type { McpServerSettings } from '../../../src/tools/mcp/server-settings.ts';
import type { ToolSource } from '../../../src/tools/mcp/tool-source.ts';
import type { ToolContext } from '../../../src/tools/tool.ts';
import type { JsonObject } from '../../../src/transcript/json.ts';

const SCRIPT = path.join(import.meta.dirname, 'scripted-server.mjs');
const { PATH = '', HOME = '' } = process.env;

/** A fresh folder, gone after the test. */
export function freshFolder(): string {
  const folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'holdfast-mcp-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Lines that the scripted server wrote under this name. */
export function lines(folder: string, name: string): readonly string[] {
  const file = path.join(folder, name);
  return existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : [];
}

export function stdio(folder: string, ...flags: readonly string[]): McpServerSettings {
  return program('scripted', process.execPath, [SCRIPT, folder, ...flags], folder);
}

export function program(name: string, command: string, args: readonly string[], cwd: string): McpServerSettings {
  return { name, server: { kind: 'stdio', command, args, env: { PATH, HOME }, cwd } };
}

/** A published server, by the name of its package. */
export function published(name: string, pkg: string, args: readonly string[], cwd: string): McpServerSettings {
  const require = createRequire(import.meta.url);
  const entry = path.join(path.dirname(require.resolve(`${pkg}/package.json`)), 'dist/index.js');
  return program(name, process.execPath, [entry, ...args], cwd);
}

/** The scripted server behind HTTP. */
export async function httpServer(
  folder: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ readonly settings: McpServerSettings; readonly child: ChildProcess }> {
  const child = spawn(process.execPath, [SCRIPT, folder, '--http'], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [data] = (await once(child.stdout, 'data')) as [Buffer];
  const url = `http://127.0.0.1:${data.toString().trim()}/mcp`;
  return { child, settings: { name: 'scripted', server: { kind: 'http', url, headers } } };
}

export type LogLine = { readonly level: string; readonly event?: string; readonly [field: string]: unknown };

export interface TestServers extends McpServers {
  readonly logged: readonly LogLine[];
  readonly all: ToolSource;
}

/** Servers that end with the test, and what they logged. A server that is away is asked again at once. */
export function testServers(settings: readonly McpServerSettings[], deps: Partial<McpServerDeps> = {}): TestServers {
  const logged: LogLine[] = [];
  const write = (level: string) => (fields: object) => void logged.push({ level, ...fields });
  const servers = createMcpServers(settings, {
    log: { debug: write('debug'), info: write('info'), warn: write('warn') },
    allowEffects: true,
    redact: (text) => text,
    restMs: 0,
    ...deps,
  });
  onTestFinished(() => servers.close());
  return { ...servers, logged, all: servers.source(settings.map(({ name }) => name)) };
}

/** Calls a tool as an activity would, by the specs that a run that opens now would freeze. */
export async function call(
  source: ToolSource,
  name: string,
  args: JsonObject = {},
  context: Partial<ToolContext> = {},
) {
  const { specs } = await source.offer();
  const spec = specs.find((each) => each.name === name);
  const tool = spec === undefined ? undefined : source.tool(spec);
  if (tool === undefined) throw new Error(`no tool ${name} among ${specs.map((each) => each.name).join(', ')}`);
  return await runTool(tool, args, {
    sessionId: 's',
    runId: 'r',
    callId: 'call-1',
    idempotencyKey: 'call-1',
    attempt: 1,
    signal: new AbortController().signal,
    workspace: '/',
    progress: () => undefined,
    ...context,
  });
}

export function text({ blocks }: { readonly blocks: readonly { readonly type: string; readonly text?: string }[] }) {
  return blocks.map((block) => block.text ?? `[${block.type}]`).join('\n');
}

/** Resolves once `is` holds. */
export async function until(is: () => boolean): Promise<void> {
  while (!is()) await new Promise((resolve) => setTimeout(resolve, 10));
}

/** Whether the process runs (a zombie does not). */
export function runs(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}
