import { setTimeout as delay } from 'node:timers/promises';
import type { HoldfastClient } from '../../client/holdfast-client.ts';
import { HoldfastError } from '../../contract/errors.ts';
import { TASK_QUEUE } from '../../contract/identity.ts';
import { terminalKeys, withApprovals } from '../approval-prompt.ts';
import { attachments } from '../attachments.ts';
import { Cleanup } from '../cleanup.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { onInterrupt } from '../interrupts.ts';
import { narrator } from '../narrate.ts';
import { type Output, rendererFor } from '../output.ts';
import { renderRun } from '../render-run.ts';
import { requireModel } from '../require-model.ts';
import type { Settings } from '../settings.ts';
import { leaseTemporal, type TemporalLease, webUiLink, workerMayRun } from '../temporal-access.ts';
import { watchTrouble } from '../watch-trouble.ts';
import { startWorkerChild, type WorkerChild } from '../worker-child.ts';

/** How long the end of a workflow is waited for, once its run has ended. */
const CLOSING_MS = 10_000;

export interface RunCommand {
  readonly settings: Settings;
  readonly text: string;
  readonly session?: string;
  readonly agent?: string;
  readonly model?: string;
  /** Paths of files that go with the question. */
  readonly attach?: readonly string[];
  readonly output: Output | undefined;
}

/**
 * One run from question to answer, with whatever it needs: a Temporal server and a worker are used where they run, else
 * started and ended again. Ctrl-C cancels the run and waits until it has settled; a second one leaves at once.
 */
export async function run(command: RunCommand): Promise<ExitCode> {
  const { settings } = command;
  if (command.text.trim() === '') throw new HoldfastError('InvalidInput', 'the prompt is empty');
  const cleanup = new Cleanup();
  const cancel = new AbortController();
  const stopListening = onInterrupt({
    ask: () => cancel.abort(),
    force: () => {
      cleanup.now();
      process.exit(EXIT.cancelled);
    },
  });
  try {
    if (!(await workerMayRun(settings))) await requireModel(settings, command);
    const lease = await leaseTemporal(settings, narrator(), false);
    cleanup.add(lease.release, lease.releaseNow);
    if (cancel.signal.aborted) return EXIT.cancelled;
    // On the folder's own server it is known who works there, so our worker can start while we connect.
    const early = lease.access.external || lease.hasWorker ? undefined : startWorker(settings, lease, cleanup);
    const client = await connect(settings, lease, cleanup);
    const worker = early ?? (await workerWhereNone(command, { client, lease, cleanup }));
    return await converse(command, { client, lease, worker, cancel: cancel.signal });
  } finally {
    await cleanup.all();
    stopListening();
  }
}

interface Means {
  readonly client: HoldfastClient;
  readonly lease: TemporalLease;
  readonly worker: WorkerChild | undefined;
  readonly cancel: AbortSignal;
}

async function converse(command: RunCommand, { client, lease, worker, cancel }: Means): Promise<ExitCode> {
  const failed = worker?.ready
    .then(() => worker.ended)
    .then((code) => {
      throw new HoldfastError('NoWorker', `the worker ended in mid-run (code ${code})`, {
        hint: `Its log is ${worker.logFile}.`,
      });
    });
  failed?.catch(() => {});
  const withWorker = <T>(work: Promise<T>): Promise<T> => (failed === undefined ? work : Promise.race([work, failed]));

  // The client gives up on a queue that nobody polls; a worker of ours that is just starting needs no such doubt.
  const aborted = new Promise<undefined>((resolve) => {
    cancel.addEventListener('abort', () => resolve(undefined), { once: true });
  });
  const ready = await Promise.race([worker?.ready, aborted]);
  const named = command.model ?? command.settings.config.agents?.find(({ name }) => name === command.agent)?.model;
  if (ready !== undefined && named === undefined) narrator().say(`Model ${ready.model}: ${ready.reason}`);
  if (cancel.aborted) return EXIT.cancelled;
  const attached = await attachments(client, command.attach ?? []);
  const sent = await withWorker(client.start({ ...messageOf(command), attachments: attached }));
  const renderer = rendererFor(command.output);
  const cancelRun = (): void => {
    renderer.note('Cancelling; Ctrl-C again leaves at once.');
    client.cancel(sent.sessionId, 'interrupted at the terminal').catch(() => {}); // It may have ended just now.
  };
  if (cancel.aborted) cancelRun();
  else cancel.addEventListener('abort', cancelRun, { once: true });

  const unwatch = watchTrouble(client.temporal, sent.workflowId, renderer.note);
  const keys = command.output === undefined || command.output === 'pretty' ? terminalKeys() : undefined;
  const events = withApprovals(client.follow(sent), {
    client,
    sessionId: sent.sessionId,
    note: renderer.note,
    ...(keys === undefined ? {} : { keys }),
  });
  const { settled, runId } = await withWorker(renderRun(events, renderer)).finally(unwatch);
  const owner = runId === undefined ? undefined : (await client.store.run(runId))?.owner;
  const link = webUiLink(lease.access, sent.workflowId, owner);
  renderer.end(link === undefined ? undefined : `Session ${sent.sessionId} · ${link}`);
  if (worker !== undefined && owner !== undefined) await closed(client, sent.workflowId, owner);
  cancel.removeEventListener('abort', cancelRun);
  return settled ?? EXIT.runFailed;
}

/** A run has its terminal event a moment before its workflow closes; without a worker the session would stay busy. */
async function closed(client: HoldfastClient, workflowId: string, temporalRunId: string): Promise<void> {
  const handle = client.temporal.workflow.getHandle(workflowId, temporalRunId, { followRuns: false });
  const ended = handle.result().then(
    () => {},
    () => {}, // It failed or went on as new: closed as well.
  );
  await Promise.race([ended, delay(CLOSING_MS, undefined, { ref: false })]);
}

function messageOf({ text, session, agent, model }: RunCommand): Parameters<HoldfastClient['start']>[0] {
  return {
    text,
    ...(session === undefined ? {} : { sessionId: session }),
    ...(agent === undefined ? {} : { agent }),
    ...(model === undefined ? {} : { model }),
  };
}

/** On a server that is not ours whoever polls there takes the run; where nobody does, a worker of ours. */
async function workerWhereNone(
  command: RunCommand,
  { client, lease, cleanup }: { client: HoldfastClient; lease: TemporalLease; cleanup: Cleanup },
): Promise<WorkerChild | undefined> {
  if (!lease.access.external) return undefined;
  const { pollers } = await import('../../client/accept.ts');
  if ((await pollers(client.temporal, TASK_QUEUE)) > 0) return undefined;
  await requireModel(command.settings, command);
  return startWorker(command.settings, lease, cleanup);
}

function startWorker(settings: Settings, { access }: TemporalLease, cleanup: Cleanup): WorkerChild {
  const worker = startWorkerChild({ ...settings, env: access.workerEnv });
  cleanup.add(worker.stop, worker.killNow);
  return worker;
}

/** Loaded late: the client library takes as long to load as a server to start. */
async function connect(settings: Settings, { access }: TemporalLease, cleanup: Cleanup): Promise<HoldfastClient> {
  const { HoldfastClient } = await import('../../client/holdfast-client.ts');
  const client = await HoldfastClient.connect({ ...access, store: settings.store });
  cleanup.add(
    () => client.close(),
    () => {},
  );
  return client;
}
