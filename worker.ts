import { Client, Connection } from '@temporalio/client';
import { NativeConnection, type NativeConnectionOptions, Worker, type WorkerOptions } from '@temporalio/worker';
import type { Logger } from 'pino';
import type { ActivityDeps } from './src/activities/agents.ts';
import { createActivities } from './src/activities/create-activities.ts';
import { SEARCH_ATTRIBUTES, TASK_QUEUE, TOOLS_TASK_QUEUE } from './src/contract/identity.ts';

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
  const { openRun, callModel, settleBatch, closeRun, callTool } = activities;
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
    activities: { openRun, callModel, settleBatch, closeRun },
    maxCachedWorkflows: options.maxCachedWorkflows ?? 500,
    // After a worker is killed, the next workflow task waits this long for its dead sticky queue.
    stickyQueueScheduleToStartTimeout: 1000,
  });
  const tools = await Worker.create({ ...common, taskQueue: TOOLS_TASK_QUEUE, activities: { callTool } });
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
