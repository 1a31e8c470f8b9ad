import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { HoldfastClient } from '../../src/client/holdfast-client.ts';
import type { HoldfastConfig } from '../../src/config/settings.ts';
import { SEARCH_ATTRIBUTES } from '../../src/contract/identity.ts';
import type { TemporalBinary } from '../../src/devserver/binary.ts';
import { resolveDevServer } from '../../src/devserver/resolve.ts';
import { type StartedServer, startDevServer } from '../../src/devserver/start.ts';
import { type FakeProvider, startFakeProvider } from '../fakes/fake-provider.ts';

/** A worker in a process of its own, to be killed and stopped for real. */
export interface WorkerProcess {
  readonly pid: number;
  readonly logFile: string;
  signal(name: NodeJS.Signals): void;
  log(): string;
}

export interface Processes {
  readonly provider: FakeProvider;
  readonly client: HoldfastClient;
  readonly folder: string;
  startWorker(): Promise<WorkerProcess>;
  killServer(): void;
  restartServer(): Promise<void>;
  stop(): Promise<void>;
}

/** What the agent of a folder can do: code that defines its tools, with all imports, and their names. */
export interface ToolCode {
  readonly tools: string;
  readonly names: readonly string[];
  readonly approvals?: HoldfastConfig['approvals'];
}

/** One tool, which sleeps and notes each start in `work.log`. */
const WORK: ToolCode = {
  names: ['work'],
  tools: `
import { appendFileSync } from 'node:fs';
import { defineAgent, defineConfig, defineTool } from 'holdfast';
import { z } from 'zod';

const work = defineTool({
  name: 'work',
  description: 'Does a piece of work.',
  input: z.object({ n: z.number(), sleepMs: z.number().optional(), bytes: z.number().optional() }),
  annotations: { readOnlyHint: true },
  pollable: true,
  async execute({ n, sleepMs = 0, bytes = 20 }, { attempt, callId }) {
    appendFileSync(new URL('./work.log', import.meta.url), JSON.stringify({ n, attempt, callId, pid: process.pid }) + '\\n');
    await new Promise((resolve) => setTimeout(resolve, sleepMs));
    return \`result \${n} \`.padEnd(bytes, 'x');
  },
});
`,
};

/** The folder's config: one agent with these tools. */
const CONFIG = (baseURL: string, { tools, names, approvals = [] }: ToolCode): string => `${tools}
export default defineConfig({
  model: 'fake/script',
  providers: { fake: { api: 'openai-chat', baseURL: ${JSON.stringify(baseURL)} } },
  agents: [defineAgent({ name: 'default', instructions: 'You are under test.', tools: [${names.join(', ')}], maxToolTurns: 200 })],
  approvals: ${JSON.stringify(approvals)},
});
`;

export async function startProcesses(answer: FakeProvider['answer'], tools: ToolCode = WORK): Promise<Processes> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-long-'));
  const provider = await startFakeProvider(answer);
  writeFileSync(join(folder, 'holdfast.config.ts'), CONFIG(provider.baseURL, tools));
  const narrator = { say: () => undefined, progress: () => undefined };
  const binary = await resolveDevServer({ env: process.env, cacheDir: resolve('.holdfast/bin'), ...narrator });
  let server = await startServer(binary, folder);
  const { address } = server;
  const workers: ChildProcess[] = [];
  const client = await HoldfastClient.connect({
    connection: { address },
    store: join(folder, '.holdfast', 'holdfast.db'),
  });
  return {
    provider,
    client,
    folder,
    startWorker: () => spawnWorker(folder, address, workers),
    killServer: () => process.kill(server.process.pid, 'SIGKILL'),
    async restartServer() {
      server = await startServer(binary, folder, Number(address.split(':')[1]));
      if (server.address !== address) throw new Error(`the server came back at ${server.address}`);
    },
    async stop() {
      for (const worker of workers) worker.kill('SIGKILL');
      await client.close();
      process.kill(server.process.pid, 'SIGKILL');
      await provider.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function startServer(binary: TemporalBinary, folder: string, port = 37_233): Promise<StartedServer> {
  const stateDir = join(folder, '.holdfast');
  return startDevServer({
    binary,
    stateDir,
    searchAttributes: SEARCH_ATTRIBUTES,
    preferredPort: port,
    preferredUiPort: port + 1000,
  });
}

async function spawnWorker(folder: string, address: string, workers: ChildProcess[]): Promise<WorkerProcess> {
  const logFile = join(folder, `worker-${workers.length}.log`);
  const log = openSync(logFile, 'a');
  const child = spawn(process.execPath, [resolve('dist/worker.js')], {
    env: { ...process.env, HOLDFAST_FOLDER: folder, TEMPORAL_ADDRESS: address, HOLDFAST_MODEL: '', HOLDFAST_STORE: '' },
    stdio: ['ignore', 'pipe', log],
  });
  closeSync(log);
  workers.push(child);
  await new Promise<void>((ready, failed) => {
    const ended = (code: number | null): void => {
      failed(new Error(`worker ended with ${code}: ${readFileSync(logFile, 'utf8').slice(-500)}`));
    };
    child.once('exit', ended);
    createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', (line) => {
      if (!line.includes('"ready":true')) return;
      child.off('exit', ended);
      ready();
    });
  });
  const pid = child.pid ?? 0;
  return { pid, logFile, signal: (name) => process.kill(pid, name), log: () => readFileSync(logFile, 'utf8') };
}

/** Starts of the tool as it noted them itself. */
export function toolStarts({ folder }: Processes): { n: number; attempt: number; callId: string; pid: number }[] {
  try {
    const lines = readFileSync(join(folder, 'work.log'), 'utf8').trim().split('\n');
    return lines.map((line) => JSON.parse(line));
  } catch {
    return [];
  }
}
