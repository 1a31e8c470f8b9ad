import type { HoldfastClient } from '../../client/holdfast-client.ts';
import { HoldfastError } from '../../contract/errors.ts';
import { terminalKeys, withApprovals } from '../approval-prompt.ts';
import { attachments } from '../attachments.ts';
import { bringUp, closed, type Means, workerLost, workerReady } from '../bring-up.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { withCleanup } from '../interruptible.ts';
import { type Output, rendererFor } from '../output.ts';
import { renderRun } from '../render-run.ts';
import type { Settings } from '../settings.ts';
import { webUiLink } from '../temporal-access.ts';
import { watchTrouble } from '../watch-trouble.ts';

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
  return withCleanup(async (cleanup, cancel) => {
    const means = await bringUp({ settings, wish: command, cleanup, cancel });
    return means === undefined ? EXIT.cancelled : converse(command, means, cancel);
  });
}

async function converse(command: RunCommand, means: Means, cancel: AbortSignal): Promise<ExitCode> {
  const { client, lease, worker } = means;
  const failed = workerLost(means);
  const withWorker = <T>(work: Promise<T>): Promise<T> => (failed === undefined ? work : Promise.race([work, failed]));
  if (!(await workerReady(means, { settings: command.settings, wish: command, cancel }))) return EXIT.cancelled;
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

function messageOf({ text, session, agent, model }: RunCommand): Parameters<HoldfastClient['start']>[0] {
  return {
    text,
    ...(session === undefined ? {} : { sessionId: session }),
    ...(agent === undefined ? {} : { agent }),
    ...(model === undefined ? {} : { model }),
  };
}
