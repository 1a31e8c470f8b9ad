import { setTimeout as delay } from 'node:timers/promises';
import type { HoldfastClient } from '../client/holdfast-client.ts';
import { HoldfastError } from '../contract/errors.ts';
import { TASK_QUEUE } from '../contract/identity.ts';
import type { Cleanup } from './cleanup.ts';
import { untilAborted } from './interruptible.ts';
import { narrator } from './narrate.ts';
import { requireModel } from './require-model.ts';
import type { Settings } from './settings.ts';
import { leaseTemporal, type TemporalLease, workerMayRun } from './temporal-access.ts';
import { startWorkerChild, type WorkerChild } from './worker-child.ts';

/** How long the end of a workflow is waited for, once its run has ended. */
const CLOSING_MS = 10_000;

/** What a command works with that starts what is missing. */
export interface Means {
  readonly client: HoldfastClient;
  readonly lease: TemporalLease;
  /** Ours, where none was there. */
  readonly worker: WorkerChild | undefined;
}

export interface BringUp {
  readonly settings: Settings;
  /** Who is to answer: checked before anything is started, where a worker of ours would have to. */
  readonly wish: { readonly agent?: string; readonly model?: string };
  /** Gets the end of everything that is started. */
  readonly cleanup: Cleanup;
  readonly cancel: AbortSignal;
}

/** A Temporal server and a worker are used where they run, else started. `undefined` when cancelled meanwhile. */
export async function bringUp({ settings, wish, cleanup, cancel }: BringUp): Promise<Means | undefined> {
  if (!(await workerMayRun(settings))) await requireModel(settings, wish);
  const lease = await leaseTemporal(settings, narrator(), false);
  cleanup.add(lease.release, lease.releaseNow);
  if (cancel.aborted) return undefined;
  // On the folder's own server it is known who works there, so our worker can start while we connect.
  const early = lease.access.external || lease.hasWorker ? undefined : startWorker(settings, lease, cleanup);
  const client = await connect(settings, lease, cleanup);
  const worker = early ?? (await workerWhereNone({ settings, wish, cleanup }, { client, lease }));
  return { client, lease, worker };
}

/** Waits until a worker of ours polls and says which model it works with, unless the caller named one. `false` when cancelled. */
export async function workerReady(
  { worker }: Means,
  { settings, wish, cancel }: Pick<BringUp, 'settings' | 'wish' | 'cancel'>,
): Promise<boolean> {
  // The client gives up on a queue that nobody polls; a worker of ours that is just starting needs no such doubt.
  const ready = await Promise.race([worker?.ready, untilAborted(cancel)]);
  const named = wish.model ?? settings.config.agents?.find(({ name }) => name === wish.agent)?.model;
  if (ready !== undefined && named === undefined) narrator().say(`Model ${ready.model}: ${ready.reason}`);
  return !cancel.aborted;
}

/** Rejects when a worker of ours ends: nothing would go on. Never resolves; absent where the worker is not ours. */
export function workerLost({ worker }: Pick<Means, 'worker'>): Promise<never> | undefined {
  const lost = worker?.ready
    .then(() => worker.ended)
    .then((code): never => {
      throw new HoldfastError('NoWorker', `the worker ended in mid-run (code ${code})`, {
        hint: `Its log is ${worker.logFile}.`,
      });
    });
  lost?.catch(() => {});
  return lost;
}

/** A run has its terminal event a moment before its workflow closes; without a worker the session would stay busy. */
export async function closed(client: HoldfastClient, workflowId: string, temporalRunId: string): Promise<void> {
  const handle = client.temporal.workflow.getHandle(workflowId, temporalRunId, { followRuns: false });
  const ended = handle.result().then(
    () => {},
    () => {}, // It failed or went on as new: closed as well.
  );
  await Promise.race([ended, delay(CLOSING_MS, undefined, { ref: false })]);
}

/** On a server that is not ours whoever polls there takes the run; where nobody does, a worker of ours. */
async function workerWhereNone(
  { settings, wish, cleanup }: Omit<BringUp, 'cancel'>,
  { client, lease }: Omit<Means, 'worker'>,
): Promise<WorkerChild | undefined> {
  if (!lease.access.external) return undefined;
  const { pollers } = await import('../client/accept.ts');
  if ((await pollers(client.temporal, TASK_QUEUE)) > 0) return undefined;
  await requireModel(settings, wish);
  return startWorker(settings, lease, cleanup);
}

function startWorker(settings: Settings, { access }: TemporalLease, cleanup: Cleanup): WorkerChild {
  const worker = startWorkerChild({ ...settings, env: access.workerEnv });
  cleanup.add(worker.stop, worker.killNow);
  return worker;
}

/** Loaded late: the client library takes as long to load as a server to start. */
async function connect(settings: Settings, { access }: TemporalLease, cleanup: Cleanup): Promise<HoldfastClient> {
  const { HoldfastClient } = await import('../client/holdfast-client.ts');
  const client = await HoldfastClient.connect({ ...access, store: settings.store });
  cleanup.add(
    () => client.close(),
    () => {},
  );
  return client;
}
