import { fileURLToPath, pathToFileURL } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import {
  DefaultLogger,
  NativeConnection,
  type NativeConnectionOptions,
  Runtime,
  Worker,
  type WorkerOptions,
} from '@temporalio/worker';
import type { Logger } from 'pino';
import type { ActivityDeps, AgentSpec } from './src/activities/agents.ts';
import { createActivities } from './src/activities/create-activities.ts';
import { compactionConfig } from './src/compaction/config.ts';
import { type ConfiguredAgent, configuredAgents } from './src/config/agents.ts';
import { buildProviders } from './src/config/build-providers.ts';
import { connectionFromEnvironment } from './src/config/connection.ts';
import { secretValues } from './src/config/endpoints.ts';
import { loadConfig } from './src/config/load-config.ts';
import { configuredMcpServers } from './src/config/mcp-servers.ts';
import { modelOverrides } from './src/config/model-overrides.ts';
import { resolveModel } from './src/config/resolve-model.ts';
import { serverWindows } from './src/config/server-windows.ts';
import type { HoldfastConfig } from './src/config/settings.ts';
import { SEARCH_ATTRIBUTES, TASK_QUEUE, TOOLS_TASK_QUEUE } from './src/contract/identity.ts';
import { loadCatalog } from './src/providers/catalog.ts';
import { openStore } from './src/store/open-store.ts';
import { createLogger } from './src/telemetry/logger.ts';
import { outputSchemaOf } from './src/tools/output-schema.ts';
import { createPolicy } from './src/tools/policy.ts';
import { secretMask } from './src/transcript/mask-secrets.ts';

export interface HoldfastWorkerOptions {
  /** How to reach Temporal: address, TLS, API key. */
  readonly connection: NativeConnectionOptions;
  readonly namespace: string;
  readonly deps: ActivityDeps;
  /** The prebuilt bundle of `src/workflows`, or the path of its entry (bundled at start, 2 s). */
  readonly workflows: { readonly bundlePath: string } | { readonly entryPath: string };
  readonly log: Logger;
  /** Workflow executions kept in memory; fewer than the number of open runs costs throughput. Default 500. */
  readonly maxCachedWorkflows?: number;
}

export interface HoldfastWorker {
  /** Resolves when both workers have shut down; rejects when one failed. */
  readonly done: Promise<void>;
  /** Lets activities finish for a moment, then hands them over. */
  shutdown(): void;
}

/** Activities get this long to finish or to be handed over after a shutdown was asked, in milliseconds. */
const GRACE_MS = 2000;

/**
 * Starts the two workers of a process: one for workflows and model calls, one for tools, so that long commands cannot
 * starve the rest. Binds the store to the namespace and registers the search attributes first.
 *
 * @throws StoreError `StoreMismatch` when the store belongs to another namespace.
 */
export async function startWorker(options: HoldfastWorkerOptions): Promise<HoldfastWorker> {
  const { deps, namespace } = options;
  await prepareNamespace(options);
  const connection = await NativeConnection.connect(options.connection);
  const activities = createActivities(deps);
  const common: Omit<WorkerOptions, 'taskQueue'> = {
    connection,
    namespace,
    shutdownGraceTime: GRACE_MS,
    shutdownForceTime: 5 * GRACE_MS,
    // How late a cancel may reach an activity: the default lets 80 % of the heartbeat timeout pass.
    maxHeartbeatThrottleInterval: 250,
    defaultHeartbeatThrottleInterval: 250,
  };
  const main = await Worker.create({
    ...common,
    taskQueue: TASK_QUEUE,
    ...('bundlePath' in options.workflows
      ? { workflowBundle: { codePath: options.workflows.bundlePath } }
      : { workflowsPath: options.workflows.entryPath }),
    activities,
    maxCachedWorkflows: options.maxCachedWorkflows ?? 500,
    // After a worker is killed, the next workflow task waits this long for its dead sticky queue.
    stickyQueueScheduleToStartTimeout: 1000,
  });
  const tools = await Worker.create({
    ...common,
    taskQueue: TOOLS_TASK_QUEUE,
    activities: { callTool: activities.callTool },
  });
  const running = Promise.all([main.run(), tools.run()]);
  return {
    done: running.then(() => connection.close()),
    shutdown() {
      for (const worker of [main, tools]) if (worker.getState() === 'RUNNING') worker.shutdown();
    },
  };
}

/** Binds the store to the namespace, and registers the search attributes; both idempotent. */
async function prepareNamespace({ connection: options, namespace, deps }: HoldfastWorkerOptions): Promise<void> {
  const { address, tls, apiKey, metadata } = options;
  const connection = await Connection.connect({
    ...(address === undefined ? {} : { address }),
    ...(tls === undefined || tls === null ? {} : { tls }),
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(metadata === undefined ? {} : { metadata: metadata as Record<string, string> }),
  });
  try {
    const client = new Client({ connection, namespace });
    const { namespaceInfo } = await client.workflowService.describeNamespace({ namespace });
    await deps.store.bindNamespace(namespaceInfo?.id ?? '');
    const keyword = 2;
    await connection.operatorService.addSearchAttributes({
      namespace,
      searchAttributes: Object.fromEntries(SEARCH_ATTRIBUTES.map((name) => [name, keyword])),
    });
  } finally {
    await connection.close();
  }
}

/**
 * The worker process: reads the folder's config and the environment, starts both workers, and says on its standard
 * output, as one JSON line, that it polls (`{"ready":true}`) or why it cannot (`{"error":{code,message,hint}}`).
 *
 * `HOLDFAST_FOLDER` names the folder (default: the current one). With `HOLDFAST_PARENT=pipe` it ends when its standard
 * input does, however its parent went away.
 */
async function main(env: NodeJS.ProcessEnv): Promise<void> {
  const loaded = await loadConfig({ folder: env.HOLDFAST_FOLDER || process.cwd(), env });
  const secrets = secretValues(loaded.config, env);
  const { logLevel } = loaded.config;
  const log = createLogger({ destination: 'stderr', secrets, ...(logLevel === undefined ? {} : { level: logLevel }) });
  const temporal = (await connectionFromEnvironment(env)) ?? LOCAL;
  const chosen = await resolveModel({ config: loaded.config, env });
  const providers = await buildProviders(loaded.config, env, chosen.name);
  const catalog = await loadCatalog({ overrides: modelOverrides(loaded.config) });
  const store = await openStore(loaded.store);
  const allowEffects = true;
  const mcp = configuredMcpServers(loaded, { env, log, allowEffects });
  const configured = configuredAgents(loaded, { store, allowEffects, env, mcp });
  Runtime.install({ logger: runtimeLogger(log), telemetryOptions: { logging: { forward: {}, filter: 'WARN' } } });
  const worker = await startWorker({
    connection: temporal.connection as NativeConnectionOptions,
    namespace: temporal.namespace,
    workflows: { bundlePath: fileURLToPath(new URL('./workflow-bundle.js', import.meta.url)) },
    log,
    deps: {
      store,
      agents: agentsOf(configured, loaded.config),
      providers,
      log,
      redact: secretMask(secrets),
      workspace: loaded.workspace,
      compaction: compactionConfig(loaded.config.context?.compaction),
      policy: createPolicy(loaded.config.approvals),
      ...deadlineOf(loaded.config),
      ...(loaded.config.hooks === undefined ? {} : { hooks: loaded.config.hooks }),
      catalog,
      serverWindow: serverWindows(loaded.config, env),
      rateLimits: new Map(Object.entries(loaded.config.providers ?? {})),
    },
  });
  if (env.HOLDFAST_PARENT === 'pipe') process.stdin.resume().once('close', () => worker.shutdown());
  log.info({ event: 'worker.started', model: chosen.name, temporal: temporal.address });
  say({ ready: true, model: chosen.name, reason: chosen.reason });
  // So that they run when the first message comes, and that one that does not start is told at once.
  void mcp.listings();
  await worker.done.finally(() => mcp.close());
  log.info({ event: 'worker.stopped' });
  await store.close();
}

const LOCAL = { address: '127.0.0.1:7233', namespace: 'default', connection: { address: '127.0.0.1:7233' } };

function deadlineOf({ approvalDeadlineSecs }: HoldfastConfig): Pick<ActivityDeps, 'approvalDeadlineSecs'> {
  return approvalDeadlineSecs === undefined ? {} : { approvalDeadlineSecs };
}

/** Configured agents with their output schemas in the form that providers and the gate need, and their own compaction. */
function agentsOf(
  configured: ReadonlyMap<string, ConfiguredAgent>,
  config: HoldfastConfig,
): ReadonlyMap<string, AgentSpec> {
  const specs = [...configured].map(([name, { outputSchema, context, ...agent }]): [string, AgentSpec] => [
    name,
    {
      ...agent,
      ...(outputSchema === undefined ? {} : { output: outputSchemaOf(outputSchema) }),
      ...(context === undefined
        ? {}
        : { compaction: compactionConfig(config.context?.compaction, context.compaction) }),
    },
  ]);
  return new Map(specs);
}

/** What the Temporal SDK has to say goes to our log, with its own level and fields. */
function runtimeLogger(log: Logger): DefaultLogger {
  return new DefaultLogger('WARN', ({ level, message, meta }) => {
    const write = level === 'ERROR' ? log.error.bind(log) : log.warn.bind(log);
    write({ source: 'temporal', detail: meta?.error ?? meta?.failure }, message);
  });
}

function say(line: object): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  main(process.env).then(
    () => process.exit(0),
    (error) => {
      const { code = 'Internal', message, hint } = error as { code?: string; message: string; hint?: string };
      say({ error: { code, message, hint } });
      process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
      process.exit(1);
    },
  );
}
