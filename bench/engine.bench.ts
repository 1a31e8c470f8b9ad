import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import OpenAI from 'openai';
import pino from 'pino';
import { z } from 'zod';
import { SEARCH_ATTRIBUTES } from '../src/contract/identity.ts';
import { endGroup } from '../src/devserver/process-group.ts';
import { resolveDevServer } from '../src/devserver/resolve.ts';
import { startDevServer } from '../src/devserver/start.ts';
import { openaiChat } from '../src/providers/openai-chat/adapter.ts';
import { createProviderRegistry } from '../src/providers/registry.ts';
import { openStore } from '../src/store/open-store.ts';
import { defineTool } from '../src/tools/define-tool.ts';
import { createToolRegistry } from '../src/tools/registry.ts';
import { startFakeProvider } from '../test/fakes/fake-provider.ts';
import { startWorker } from '../worker.ts';
import { minimalActivities } from './minimal/activities.ts';
import { type BenchRow, percentile, rowOf } from './row.ts';
import { work } from './work.ts';

const STEPS = 30;
const PAIRS = 9;
const CANCELS = 20;

/** Both loops on one tuned server, in turns: ours against the least that a durable loop can do. */
export async function* run(): AsyncIterable<BenchRow> {
  Runtime.install({ logger: new DefaultLogger('ERROR') });
  const bench = await setUp();
  try {
    const pairs: number[] = [];
    const ours: number[] = [];
    await bench.minimal('warm', 3, 200);
    await bench.holdfast('warm', 3, 200);
    for (let pair = 0; pair < PAIRS; pair++) {
      const floor = (await bench.minimal(`m${pair}`, STEPS, 200)).ms / STEPS;
      const mine = (await bench.holdfast(`h${pair}`, STEPS, 200)).ms / STEPS;
      pairs.push(mine / floor);
      ours.push(mine);
    }
    yield rowOf('step_ratio_vs_minimal', 'ratio', pairs);
    yield rowOf('step_ms', 'ms', ours);
    const small = await bench.holdfast('small', 60, 1000);
    const large = await bench.holdfast('large', 60, 50_000);
    yield rowOf('history_bytes_per_step_small', 'bytes', [small.historyBytes / 60]);
    yield rowOf('history_bytes_per_step_large', 'bytes', [large.historyBytes / 60]);
    const cancels = await bench.cancels(CANCELS);
    yield rowOf('cancel_abort_p95_ms', 'ms', cancels, percentile(cancels, 95));
  } finally {
    await bench.tearDown();
  }
}

interface Measured {
  readonly ms: number;
  readonly historyBytes: number;
}

async function setUp() {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-bench-'));
  const narrator = { say: () => undefined, progress: () => undefined };
  const binary = await resolveDevServer({
    env: process.env,
    cacheDir: join(process.cwd(), '.holdfast/bin'),
    ...narrator,
  });
  const server = await startDevServer({
    binary,
    stateDir: folder,
    searchAttributes: SEARCH_ATTRIBUTES,
    preferredPort: 27_233,
    preferredUiPort: 28_233,
  });
  const model = spawn(process.execPath, [fileURLToPath(new URL('./fake-model.js', import.meta.url))], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const url = await firstLine(model);
  const slow = await startFakeProvider(() => ({ text: ['one ', 'two '], chunkDelayMs: 20, hang: true }));

  const connection = await Connection.connect({ address: server.address });
  const client = new Client({ connection });
  const native = await NativeConnection.connect({ address: server.address });
  const minimalWorker = await Worker.create({
    connection: native,
    taskQueue: 'minimal',
    workflowsPath: fileURLToPath(new URL('./minimal/workflows.js', import.meta.url)),
    activities: minimalActivities(join(folder, 'minimal.db')),
  });
  const minimalDone = minimalWorker.run();
  const store = await openStore(join(folder, 'holdfast.db'));
  const log = pino({ level: 'silent' });
  const adapter = (id: string, baseURL: string) =>
    openaiChat({
      id,
      client: new OpenAI({ apiKey: 'none', baseURL, maxRetries: 0 }),
      dialect: 'generic',
      endpoint: baseURL,
      account: 'bench',
    });
  const worker = await startWorker({
    connection: { address: server.address },
    namespace: server.namespace,
    workflows: { entryPath: fileURLToPath(new URL('../src/workflows/index.js', import.meta.url)) },
    log,
    deps: {
      store,
      agents: new Map([['default', agent()]]),
      providers: createProviderRegistry({
        providers: [adapter('fake', `${url}/v1`), adapter('slow', slow.baseURL)],
        default: 'fake/script-1-1',
      }),
      log,
      workspace: folder,
      // A window that no run outgrows: what a compaction adds to a history is not what is measured here.
      catalog: { facts: () => ({ windowTokens: 2_000_000, abilities: {} }), costUsd: () => null },
    },
  });

  const timed = async (workflowId: string, start: () => Promise<unknown>): Promise<Measured> => {
    const from = performance.now();
    await start();
    const ms = performance.now() - from;
    const { historySize } = await client.workflow.getHandle(workflowId).describe();
    return { ms, historyBytes: historySize ?? Number.NaN };
  };
  return {
    minimal: (id: string, turns: number, bytes: number) =>
      timed(`minimal-${id}`, () =>
        client.workflow.execute('minimalLoop', {
          taskQueue: 'minimal',
          workflowId: `minimal-${id}`,
          args: [url, `script-${turns}-${bytes}`, id],
        }),
      ),
    holdfast: (id: string, turns: number, bytes: number) =>
      timed(`session/${id}`, () =>
        client.workflow.execute('agentRun', {
          taskQueue: 'holdfast',
          workflowId: `session/${id}`,
          args: [{ sessionId: id, prompt: 'Do the work.', model: `fake/script-${turns}-${bytes}` }],
        }),
      ),
    async cancels(count: number): Promise<number[]> {
      const latencies: number[] = [];
      for (let index = 0; index < count; index++) {
        const workflowId = `session/cancel-${index}`;
        const handle = await client.workflow.start('agentRun', {
          taskQueue: 'holdfast',
          workflowId,
          args: [{ sessionId: `cancel-${index}`, prompt: 'Talk.', model: 'slow/any' }],
        });
        while (slow.requests.length <= index) await sleep(5);
        await sleep(100 + ((index * 37) % 200));
        const from = performance.now();
        await handle.signal('cancel', {});
        await handle.result();
        latencies.push((slow.requests[index]?.abortedAt ?? Number.NaN) - from);
      }
      return latencies;
    },
    async tearDown(): Promise<void> {
      worker.shutdown();
      minimalWorker.shutdown();
      await Promise.all([worker.done, minimalDone]);
      await native.close();
      await connection.close();
      await store.close();
      await slow.close();
      model.kill();
      await endGroup(server.process, 2000);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function agent() {
  const tool = defineTool({
    name: 'work',
    description: 'Does n-th piece of work and returns text.',
    input: z.object({ n: z.int(), bytes: z.int(), sleep_ms: z.int() }),
    annotations: { readOnlyHint: true },
    quick: true,
    execute: (input) => work(input),
  });
  return {
    name: 'default',
    instructions: 'You are a worker. Call the tool until done.',
    tools: createToolRegistry([tool]),
    maxToolTurns: 1000,
    maxParallelTools: 8,
    toolTimeoutSecs: 60,
  };
}

function firstLine(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => child.stdout?.once('data', (data) => resolve(String(data).trim())));
}

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
