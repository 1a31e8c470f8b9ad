import { pollers } from '../../client/accept.ts';
import { HoldfastClient } from '../../client/holdfast-client.ts';
import { HoldfastError } from '../../contract/errors.ts';
import { TASK_QUEUE } from '../../contract/identity.ts';
import { Cleanup } from '../cleanup.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { onInterrupt } from '../interrupts.ts';
import { narrator } from '../narrate.ts';
import { type Output, rendererFor } from '../output.ts';
import { renderRun } from '../render-run.ts';
import { requireModel } from '../require-model.ts';
import type { Settings } from '../settings.ts';
import { leaseTemporal, type TemporalLease, webUiLink, workerMayRun } from '../temporal-access.ts';
import { startWorkerChild, type WorkerChild } from '../worker-child.ts';

export interface RunCommand {
  readonly settings: Settings;
  readonly text: string;
  readonly session?: string;
  readonly agent?: string;
  readonly model?: string;
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
    const client = await HoldfastClient.connect({ ...lease.access, store: settings.store });
    cleanup.add(
      () => client.close(),
      () => {},
    );
    const worker = (await workerRuns(client, lease)) ? undefined : await startWorker(command, lease);
    if (worker !== undefined) cleanup.add(worker.stop, worker.killNow);
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
  await worker?.ready;
  if (cancel.aborted) return EXIT.cancelled;
  const sent = await withWorker(client.start(messageOf(command)));
  const renderer = rendererFor(command.output);
  const cancelRun = (): void => {
    renderer.note('Cancelling; Ctrl-C again leaves at once.');
    client.cancel(sent.sessionId, 'interrupted at the terminal').catch(() => {}); // It may have ended just now.
  };
  if (cancel.aborted) cancelRun();
  else cancel.addEventListener('abort', cancelRun, { once: true });

  const { settled, runId } = await withWorker(renderRun(client.follow(sent), renderer));
  const owner = runId === undefined ? undefined : (await client.store.run(runId))?.owner;
  const link = webUiLink(lease.access, sent.workflowId, owner);
  renderer.end(link === undefined ? undefined : `Session ${sent.sessionId} · ${link}`);
  cancel.removeEventListener('abort', cancelRun);
  return settled ?? EXIT.runFailed;
}

function messageOf({ text, session, agent, model }: RunCommand): Parameters<HoldfastClient['start']>[0] {
  return {
    text,
    ...(session === undefined ? {} : { sessionId: session }),
    ...(agent === undefined ? {} : { agent }),
    ...(model === undefined ? {} : { model }),
  };
}

/** On a server that is not ours, whoever polls there counts; on the folder's own, only `holdfast dev` and its like. */
async function workerRuns(client: HoldfastClient, { access, hasWorker }: TemporalLease): Promise<boolean> {
  return access.external ? (await pollers(client.temporal, TASK_QUEUE)) > 0 : hasWorker;
}

async function startWorker(command: RunCommand, { access }: TemporalLease): Promise<WorkerChild> {
  const { folder, stateDir } = command.settings;
  // On the folder's own server this was looked at before anything started.
  if (access.external) await requireModel(command.settings, command);
  return startWorkerChild({ folder, stateDir, env: access.workerEnv });
}
