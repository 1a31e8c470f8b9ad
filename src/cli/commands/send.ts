import { withApprovals } from '../approval-prompt.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { lookingOn } from '../interruptible.ts';
import { type Output, printRows, rendererFor } from '../output.ts';
import { renderRun } from '../render-run.ts';
import type { Settings } from '../settings.ts';
import { webUiLink } from '../temporal-access.ts';
import { withClient } from '../with-client.ts';

export interface SendCommand {
  readonly settings: Settings;
  readonly session: string;
  readonly text: string;
  readonly steer: boolean;
  /** Deny what the open run waits for, so that it reads the message. */
  readonly denyPending: boolean;
  readonly agent?: string;
  readonly model?: string;
  /** Same id, same answer: for senders that may send twice. */
  readonly messageId?: string;
  /** Show the run that answers, until it ends. */
  readonly follow: boolean;
  readonly output: Output | undefined;
}

/** Sends a message to a session, which a worker that runs elsewhere answers. Ctrl-C stops looking, not the run. */
export function send(command: SendCommand): Promise<ExitCode> {
  return withClient(command.settings, async (client, access) => {
    const { session, text, steer, denyPending, agent, model, messageId } = command;
    const sent = await client.send({
      sessionId: session,
      text,
      mode: steer ? 'steer' : 'follow_up',
      ...(denyPending ? { denyPending: true } : {}),
      ...(agent === undefined ? {} : { agent }),
      ...(model === undefined ? {} : { model }),
      ...(messageId === undefined ? {} : { messageId }),
    });
    if (!command.follow) {
      printRows(command.output, [sent], () => `Message ${sent.messageId} is queued in session ${sent.sessionId}.\n`);
      return EXIT.ok;
    }
    return lookingOn(async (signal) => {
      const renderer = rendererFor(command.output);
      const events = client.follow(sent, { signal });
      const { settled } = await renderRun(
        withApprovals(events, { client, sessionId: session, note: renderer.note }),
        renderer,
      );
      renderer.end(webUiLink(access, sent.workflowId));
      return settled ?? EXIT.cancelled;
    });
  });
}
