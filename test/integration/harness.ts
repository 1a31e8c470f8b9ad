import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Runtime } from '@temporalio/worker';
import OpenAI from 'openai';
import pino from 'pino';
import { inject } from 'vitest';
import type { ActivityDeps, AgentSpec } from '../../src/activities/agents.ts';
import { HoldfastClient } from '../../src/client/holdfast-client.ts';
import { type CompactionConfig, compactionConfig } from '../../src/compaction/config.ts';
import type { ModelFacts } from '../../src/providers/catalog.ts';
import { openaiChat } from '../../src/providers/openai-chat/adapter.ts';
import { createProviderRegistry } from '../../src/providers/registry.ts';
import { openStore } from '../../src/store/open-store.ts';
import type { Store } from '../../src/store/store.ts';
import { createToolRegistry } from '../../src/tools/registry.ts';
import type { Tool } from '../../src/tools/tool.ts';
import { type HoldfastWorker, startWorker } from '../../worker.ts';
import { type FakeProvider, startFakeProvider } from '../fakes/fake-provider.ts';
import { claimNamespace } from '../setup/claim-namespace.ts';

export interface HarnessOptions {
  readonly answer: FakeProvider['answer'];
  readonly tools?: readonly Tool[];
  readonly agent?: Partial<AgentSpec>;
  /** Agents beside the default one. */
  readonly others?: readonly (Partial<AgentSpec> & Pick<AgentSpec, 'name'>)[];
  /** Whether the catalog says that the model takes images; default: it does not know. */
  readonly takesImages?: boolean;
  readonly rateLimits?: ActivityDeps['rateLimits'];
  readonly policy?: ActivityDeps['policy'];
  readonly approvalDeadlineSecs?: number;
  /** What the catalog knows of every model, and what it costs. */
  readonly facts?: ModelFacts | ((model: string) => ModelFacts);
  readonly costUsd?: ActivityDeps['catalog']['costUsd'];
  readonly hooks?: ActivityDeps['hooks'];
  readonly compaction?: Partial<CompactionConfig>;
  /** Goes on where another harness was stopped with `keep`: its folder and namespace. */
  readonly resume?: { readonly folder: string; readonly namespace: string };
}

/** A worker with its own namespace and store, the real client library, and a fake model behind the real vendor client. */
export interface Harness {
  readonly client: HoldfastClient;
  readonly provider: FakeProvider;
  readonly store: Store;
  readonly worker: HoldfastWorker;
  readonly namespace: string;
  readonly folder: string;
  /** `keep` leaves the folder with the store. */
  stop(options?: { readonly keep?: boolean }): Promise<void>;
}

export async function startHarness(options: HarnessOptions): Promise<Harness> {
  const { address, bundlePath, claims } = inject('temporal');
  quietRuntime();
  const folder = options.resume?.folder ?? mkdtempSync(join(tmpdir(), 'holdfast-'));
  const namespace = options.resume?.namespace ?? claimNamespace(claims);
  const provider = await startFakeProvider(options.answer);
  const location = join(folder, 'holdfast.db');
  const store = await openStore(location);
  const log = pino({ level: 'silent' });
  const worker = await startWorker({
    connection: { address },
    namespace,
    workflows: { bundlePath },
    log,
    deps: {
      store,
      agents: new Map([options.agent, ...(options.others ?? [])].map((agent) => agentNamed(options, agent))),
      providers: createProviderRegistry({ providers: [fakeModel(provider.baseURL)], default: 'fake/script' }),
      log,
      workspace: folder,
      catalog: {
        facts: (model) => ({
          ...(typeof options.facts === 'function' ? options.facts(model) : options.facts),
          abilities: options.takesImages === undefined ? {} : { images: options.takesImages },
        }),
        costUsd: options.costUsd ?? (() => null),
      },
      compaction: compactionConfig(options.compaction),
      ...(options.hooks === undefined ? {} : { hooks: options.hooks }),
      ...(options.policy === undefined ? {} : { policy: options.policy }),
      ...(options.approvalDeadlineSecs === undefined ? {} : { approvalDeadlineSecs: options.approvalDeadlineSecs }),
      ...(options.rateLimits === undefined ? {} : { rateLimits: options.rateLimits }),
    },
  });
  const client = await HoldfastClient.connect({ connection: { address }, namespace, store: location });
  return {
    client,
    provider,
    store,
    worker,
    namespace,
    folder,
    async stop({ keep = false } = {}) {
      worker.shutdown();
      await worker.done;
      await client.close();
      await store.close();
      await provider.close();
      if (!keep) rmSync(folder, { recursive: true, force: true });
    },
  };
}

function agentNamed({ tools }: HarnessOptions, agent: Partial<AgentSpec> = {}): [string, AgentSpec] {
  const spec: AgentSpec = {
    name: 'default',
    instructions: 'You are under test.',
    tools: createToolRegistry(tools ?? []),
    maxToolTurns: 10,
    maxParallelTools: 8,
    toolTimeoutSecs: 60,
    ...agent,
  };
  return [spec.name, spec];
}

export function fakeModel(baseURL: string) {
  const client = new OpenAI({ apiKey: 'unused', baseURL, maxRetries: 0 });
  return openaiChat({ id: 'fake', client, dialect: 'generic', endpoint: baseURL, account: 'test' });
}

let quiet = false;
export function quietRuntime(): void {
  if (quiet) return;
  quiet = true;
  const nothing = (): void => undefined;
  const logger = { log: nothing, trace: nothing, debug: nothing, info: nothing, warn: nothing, error: nothing };
  Runtime.install({ logger, telemetryOptions: { logging: { forward: {}, filter: 'ERROR' } } });
}
